// Checks the ways to reach operators: their credentials, and whether their services can be used. It sends nobody a message, and never
// shows a credential.

import type { ServerSettings } from '../../../config/settings/server-settings.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { createConfigFile } from '../../../http/auth/config-folder/config-file.ts'
import type { ChannelCheck, CheckParts } from '../../../operators/channel-kind.ts'
import {
  type CredentialSources,
  credentialVariable,
  type FoundCredential,
  findCredential,
  usedChannels,
} from '../../../operators/credentials/credentials.ts'
import { createConnections } from '../../../outgoing/connections.ts'
import type { Lookup } from '../../../tools/http/service/service-http.ts'
import type { Check } from './checks.ts'

type Settings = Pick<ServerSettings, 'supervision' | 'channels' | 'tools'>

interface ChannelCheckDeps {
  sources: CredentialSources
  /** Where the server keeps its secrets. Null: nowhere, or there is no data directory yet. */
  kept: { configDir: string; dataDir: string } | null
  clock: Clock
  lookup: Lookup
}

/** No checks for channels that are not configured. */
export async function checkChannels(settings: Settings, deps: ChannelCheckDeps): Promise<Check[]> {
  const connections = createConnections()
  try {
    const shared = {
      outgoing: connections.pool({ proxyVariables: settings.tools.proxy }),
      lookup: deps.lookup,
      kept: keptBy(deps.kept),
      clock: deps.clock,
    }
    const checks: Check[] = []
    for (const { kind, configured } of usedChannels(settings)) {
      const found: ChannelCheck[] = []
      const values: Record<string, string | null> = {}
      let isRight = true
      for (const [name, credential] of Object.entries(kind.credentials)) {
        const one = await findCredential(name, credential, deps.sources)
        found.push(...credentialChecks(name, one))
        values[name] = one.value
        isRight &&= one.problem === null
      }
      found.push(...(await kind.check({ ...shared, ...configured, credentials: isRight ? values : null })))
      checks.push(...found.map((one) => ({ name: kind.words.short, ...one })))
    }
    return checks
  } finally {
    connections.close()
  }
}

function keptBy(folders: ChannelCheckDeps['kept']): CheckParts['kept'] {
  return (name) => {
    if (folders === null) return null
    const file = createConfigFile(name, { ...folders, makeFolder() {} })
    const refuse = (reason: string) => new ServerError('config_invalid', reason)
    return { path: file.path, read: () => file.read({ maxBytes: 10_000, refuse }) }
  }
}

/** What to say of a credential: where it is, what is wrong with it, and whether another value is ignored. */
function credentialChecks(name: string, { from, problem, isConflicting }: FoundCredential): ChannelCheck[] {
  const variable = credentialVariable(name)
  const command = `quarterdeck ctl credential set ${name}`
  const place = from === 'keychain' ? 'in the keychain' : `in ${variable}`
  const checks: ChannelCheck[] = []
  if (problem !== null) {
    const again =
      from === 'keychain' ? `Set it again: ${command}` : `Correct ${variable}, or remove it and run: ${command}`
    checks.push({ status: 'fail', detail: problem, ...(from === null ? {} : { mend: again }) })
  } else if (from !== null) checks.push({ status: 'ok', detail: `${name} is ${place}` })
  if (isConflicting) {
    checks.push({
      status: 'warn',
      detail: `The keychain and ${variable} have different values for ${name}; the keychain counts`,
      mend: `Remove ${variable} from the environment, or store its value: ${command}`,
    })
  }
  return checks
}
