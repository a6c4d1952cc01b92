// Combinations of settings that are each fine and together are not. Each refusal names the one flag that would allow it.

import type { ConfigIssue } from '../config-error.ts'
import type { ServerSettings } from './server-settings.ts'
import type { SettingSource } from './setting-source.ts'
import type { SettingKey } from './settings.ts'

const SHORT_TOKEN = 16

export function checkSafety(
  settings: ServerSettings,
  wanted: { mode: 'auto' | 'token' | 'none'; content: boolean | null },
  find: (key: SettingKey) => SettingSource | null,
): { issues: ConfigIssue[]; warnings: string[] } {
  const { loopback, host, auth, cors, port, debug } = settings
  const issues: ConfigIssue[] = []
  const refuse = (key: SettingKey, message: string) => {
    const place = { file: null, line: null, column: null, path: key, message }
    issues.push(find(key)?.issue(message) ?? place)
  }
  const { mode } = wanted

  if (cors.origins.includes('*') && !auth.required) {
    refuse(
      'cors.origins',
      '* lets every web page use this server, and no token is required. Add --auth token, or name the origins.',
    )
  }
  if (mode === 'none' && !loopback && !auth.insecure) {
    refuse(
      'auth.mode',
      `without a token this server may only listen on this machine, not on ${host}. Add --insecure if that is meant.`,
    )
  }
  if (mode === 'token' && !auth.required) {
    refuse('auth.mode', 'a token is asked for here, and insecure says that none is. Remove one of the two.')
  }
  if (auth.token !== null && auth.token === auth.operatorToken) {
    refuse(
      'auth.operator_token',
      'the operators’ token is the users’ token, so every user could decide. Set another one.',
    )
  }
  for (const [one, other] of [
    ['tls.cert', 'tls.key'],
    ['tls.key', 'tls.cert'],
  ] as const) {
    if (find(one) !== null && find(other) === null) refuse(one, `${one} needs ${other} beside it. Set both, or none.`)
  }

  const warnings: string[] = []
  if (port > 0 && port < 1024)
    warnings.push(`Port ${port} is below 1024: most systems keep those for root. Use e.g. --port 8000.`)
  if (auth.insecure) {
    warnings.push(
      `Anybody who can reach ${host}:${port} can use this agent and your model key: --insecure asks nobody for a token.`,
    )
  }
  if (!loopback && settings.tls === null) {
    warnings.push(
      `${host} can be reached from other machines and TLS is off: put a proxy with TLS in front, or set --tls-cert and --tls-key.`,
    )
  }
  if (auth.token !== null && !auth.required) {
    warnings.push('auth.token is set, but nobody is asked for it: insecure, or auth.mode none, says so.')
  }
  for (const [key, token] of [
    ['auth.token', auth.token],
    ['auth.operator_token', auth.operatorToken],
  ] as const) {
    if (token !== null && token.length < SHORT_TOKEN)
      warnings.push(`${key} is short enough to be guessed. Make one with: openssl rand -hex 32`)
  }
  if (debug && !loopback) warnings.push('Content is not logged beyond this machine, also not with --debug.')
  if (wanted.content === true && !debug) warnings.push('log.content does nothing without --debug.')
  return { issues, warnings }
}
