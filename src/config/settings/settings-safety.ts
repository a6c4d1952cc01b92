// Combinations of settings that are unsafe together. Each refusal names the flag that would allow it.

import { type ConfigIssue, issueWithoutLine } from '../config-error.ts'
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
  const refuse = (key: SettingKey, message: string) =>
    void issues.push(find(key)?.issue(message) ?? issueWithoutLine(message, { path: key }))
  const { mode } = wanted

  if (cors.origins.includes('*') && !auth.required) {
    refuse(
      'cors.origins',
      '* lets every web page use this server without a token. Add --auth token, or list the origins.',
    )
  }
  if (mode === 'none' && !loopback && !auth.insecure) {
    refuse(
      'auth.mode',
      `without a token, the server may only listen on this machine, not on ${host}. Add --insecure if you really want this.`,
    )
  }
  if (mode === 'token' && !auth.required) {
    refuse('auth.mode', 'this requires a token, but insecure turns tokens off. Remove one of the two.')
  }
  if (auth.token !== null && auth.token === auth.operatorToken) {
    refuse(
      'auth.operator_token',
      'this is also the users’ token, so every user could approve tool calls. Set a different one.',
    )
  }
  for (const [one, other] of [
    ['tls.cert', 'tls.key'],
    ['tls.key', 'tls.cert'],
  ] as const) {
    if (find(one) !== null && find(other) === null) refuse(one, `${one} needs ${other} too. Set both or neither.`)
  }

  const warnings: string[] = []
  if (port > 0 && port < 1024)
    warnings.push(`Port ${port} is below 1024: most systems reserve those ports for root. Use e.g. --port 8000.`)
  if (auth.insecure) {
    warnings.push(
      `Anyone who can reach ${host}:${port} can use this agent and your model key, because --insecure turns tokens off.`,
    )
  }
  if (!loopback && settings.tls === null) {
    warnings.push(
      `Other machines can reach ${host}, and TLS is off: put a TLS proxy in front, or set --tls-cert and --tls-key.`,
    )
  }
  if (auth.token !== null && !auth.required) {
    warnings.push('auth.token is set but not required, because of insecure or auth.mode none.')
  }
  for (const [key, token] of [
    ['auth.token', auth.token],
    ['auth.operator_token', auth.operatorToken],
  ] as const) {
    if (token !== null && token.length < SHORT_TOKEN)
      warnings.push(`${key} is so short that it could be guessed. Create one with: openssl rand -hex 32`)
  }
  if (debug && !loopback)
    warnings.push('Messages and answers are not logged while other machines can reach the server, even with --debug.')
  if (wanted.content === true && !debug) warnings.push('log.content does nothing without --debug.')
  return { issues, warnings }
}
