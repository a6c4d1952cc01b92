import { HOOK_LIMIT_SECONDS } from '../../../hosts/host.ts'
import type { HostName } from '../../../hosts/hosts.ts'
import { shellQuoted } from '../../program-name.ts'

/** How to start this program, with absolute paths: an agent could put another `quarterdeck` into its PATH. */
export interface OwnProgram {
  node: string
  launcher: string
  /** Variables that it needs to find its config folder. */
  env: Readonly<Record<string, string>>
}

/**
 * The shell line that a host runs. Whatever ends the program early, a missing file or `kill -9`, the shell still refuses the call:
 * with the exit code that all hosts know, and a text, because Codex ignores a refusal without one. `folders` is the file that lists the
 * connected folders (null: agents in all folders are asked about). The line is the same for each of them, so a call costs one process,
 * and Codex, which trusts a line, still trusts it when a folder is added.
 */
export function hookCommand(
  host: HostName,
  { node, launcher, env }: OwnProgram,
  { event, isQuestion, folders }: { event: string; isQuestion: boolean; folders: string | null },
): string {
  const variables = Object.entries(env).map(([name, value]) => shellQuoted(`${name}=${value}`))
  const start = [...(variables.length === 0 ? [] : ['env', ...variables]), shellQuoted(node), shellQuoted(launcher)]
  const where = folders === null ? [] : ['--folders', shellQuoted(folders)]
  const line = [...start, 'hook', host, event, ...where, '--limit', String(HOOK_LIMIT_SECONDS)].join(' ')
  if (!isQuestion) return line
  return `${line} || sh -c 'echo "Quarterdeck could not be asked, so this call is refused." >&2; exit 2'`
}
