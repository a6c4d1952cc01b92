import { resolve } from 'node:path'
import { formatIssue } from '../../../config/config-error.ts'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import { findSettingsFile, readSettingsFile } from '../../../config/settings/settings-yaml.ts'
import { diskFiles } from '../../../config/source/config-files.ts'
import { readEnvironment } from '../../../config/source/env-file.ts'
import { readPolicyFile } from '../../../supervision/workspace-policy/find-policy.ts'
import { allowlistOf, type PolicyLimits } from '../../../supervision/workspace-policy/judge-request.ts'
import { type ReadPolicy, readPolicy } from '../../../supervision/workspace-policy/read-policy.ts'
import { usageError } from '../../cli-error.ts'
import type { Io } from '../../terminal/io.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'

/** The policy file that the person names, read as the server would read it. */
export function readPolicyArgument(file: string, io: Io): ReadPolicy {
  const read = readPolicyFile(resolve(io.cwd, file))
  if (read === null) {
    throw usageError(`There is no file ${file}.`, ['Check the path.'])
  }
  if (!('reason' in read)) return readPolicy(read.text)
  return { policy: null, problems: [{ line: 1, column: 1, path: '', message: read.reason }] }
}

/** `agent/policy.json:3:5 tools[0]: expected …`, for each problem. */
export function tellProblems(file: string, { policy, problems }: ReadPolicy, io: Io): void {
  for (const problem of problems) io.stderr.write(`${terminalLine(formatIssue({ file, ...problem }), 1_000)}\n`)
  if (policy === null) io.stderr.write('\nA file with a problem allows nothing.\n')
}

/** The commands of the server's settings. Null if there is no settings file. Throws a `ConfigError` if it is wrong. */
export function readAllowlist(config: string | undefined, io: Io): PolicyLimits['allowlist'] | null {
  const file = config === undefined ? findSettingsFile(io.cwd) : readSettingsFile(resolve(io.cwd, config))
  if (file === null) return null
  const { env } = readEnvironment(io.cwd, io.env, diskFiles)
  const { settings } = resolveSettings({ flags: {}, env, file, onTerminal: false })
  return allowlistOf(settings.supervision.commands)
}
