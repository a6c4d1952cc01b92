import { ServerError } from '../../../domain/errors.ts'
import type { SupervisionSettings } from '../../../domain/settings/supervision-settings.ts'
import { findProgram } from '../../../supervision/commands/find-program.ts'
import { findSandbox } from '../../../supervision/spawn/sandbox.ts'
import { resolveHost } from '../../../supervision/spawn/start-host.ts'
import type { Check } from './checks.ts'

/** The program that starts agents, and how far an agent that it starts is kept away from what guards it. */
export async function checkHost(settings: SupervisionSettings, searchPath: string): Promise<Check[]> {
  const search = { workspaces: writableFolders(settings), searchPath }
  try {
    const { program, launcher } = resolveHost(settings.hostCli, search)
    const host: Check = { name: 'Host', status: 'ok', detail: `${program}, started as ${launcher.name}` }
    return [host, await checkSandbox(findProgram('bwrap', search).program)]
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    return [{ name: 'Host', status: 'fail', detail: error.message }]
  }
}

const writableFolders = ({ workspaces, defaultWorkspaceRoot }: SupervisionSettings): string[] => [
  ...workspaces.map(({ path }) => path),
  ...(defaultWorkspaceRoot === null ? [] : [defaultWorkspaceRoot]),
]

async function checkSandbox(program: string | null): Promise<Check> {
  const sandbox = await findSandbox(program)
  if (sandbox.found !== null) {
    const detail = 'started agents run under bubblewrap and do not see the config, data and runtime folders'
    return { name: 'Sandbox', status: 'ok', detail }
  }
  return {
    name: 'Sandbox',
    status: 'warn',
    detail: `Started agents can read and write everything that this user can: ${sandbox.why}`,
    mend: 'On Linux, install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap). Otherwise only the passphrase keeps an agent from deciding here.',
  }
}
