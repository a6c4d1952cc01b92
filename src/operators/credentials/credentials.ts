// Secrets of operator channels: in the keychain of the operating system, else in the environment. Never in a file of ours, where an agent
// could read them.

import { ServerError } from '../../domain/errors.ts'
import type { Keychain } from './keychain.ts'

export const credentialNames = [
  'slack_app_token',
  'slack_bot_token',
  'slack_team_id',
  'ntfy_token',
  'webhook_secret',
] as const
export type CredentialName = (typeof credentialNames)[number]

/** The variable that is read when the keychain has nothing. */
export const credentialVariable = (name: CredentialName): string => name.toUpperCase()

export interface Credential {
  value: string
  from: 'keychain' | 'environment'
}

export interface CredentialSources {
  keychain: Keychain
  /** The environment of the process, without any `.env`: an agent may be able to write that. */
  env: Readonly<Record<string, string | undefined>>
}

/** The keychain wins. Null: neither has it. A keychain that cannot be opened counts as empty; `requireCredential` says why. */
export const findCredential = async (name: CredentialName, sources: CredentialSources): Promise<Credential | null> =>
  (await lookFor(name, sources)).found

/** `problem`: why the keychain could not be asked. */
async function lookFor(
  name: CredentialName,
  { keychain, env }: CredentialSources,
): Promise<{ found: Credential | null; problem: string | null }> {
  const { value: kept, problem } = await keychain.get(name)
  if (kept !== null) return { found: { value: kept, from: 'keychain' }, problem }
  const value = env[credentialVariable(name)]?.trim() ?? ''
  return { found: value === '' ? null : { value, from: 'environment' }, problem }
}

/** Like `findCredential`, but throws `config_invalid` with both ways to set it. */
export async function requireCredential(name: CredentialName, sources: CredentialSources): Promise<Credential> {
  // Asked once: a keychain that is locked takes ten seconds.
  const { found, problem } = await lookFor(name, sources)
  if (found !== null) return found
  throw new ServerError(
    'config_invalid',
    `The credential ${name} is missing. Put it into the keychain with \`quarterdeck ctl credential set ${name}\`, or set ${credentialVariable(name)} in the environment.${problem === null ? '' : ` The keychain cannot be used here: ${problem}.`}`,
    { details: { credential: name } },
  )
}

/** Whether both places have a value and the values differ: the one in the environment is ignored, and people may not expect that. */
export async function isConflicting(name: CredentialName, { keychain, env }: CredentialSources): Promise<boolean> {
  const value = env[credentialVariable(name)]?.trim() ?? ''
  const kept = value === '' ? null : (await keychain.get(name)).value
  return kept !== null && kept !== value
}

const shapes: Record<CredentialName, { isRight(value: string): boolean; expected: string }> = {
  slack_app_token: { isRight: (value) => /^xapp-[\w-]+$/.test(value), expected: 'a token that begins with xapp-' },
  slack_bot_token: { isRight: (value) => /^xoxb-[\w-]+$/.test(value), expected: 'a token that begins with xoxb-' },
  slack_team_id: { isRight: (value) => /^T[A-Z0-9]+$/.test(value), expected: 'an id that begins with T' },
  ntfy_token: {
    isRight: (value) => /^tk_[A-Za-z0-9]+$/.test(value),
    expected: 'an access token that begins with tk_',
  },
  webhook_secret: {
    isRight: isWebhookSecret,
    expected: 'whsec_ and 24 to 64 random bytes as base64: echo "whsec_$(openssl rand -base64 32)" makes one',
  },
}

/** As the standard of our webhooks wants it. */
function isWebhookSecret(value: string): boolean {
  const [, text = ''] = /^whsec_(.+)$/.exec(value) ?? []
  const bytes = Buffer.from(text, 'base64')
  // Node skips what is not base64, and so would find another key than the receiver.
  return bytes.toString('base64') === text && bytes.length >= 24 && bytes.length <= 64
}

/** What is wrong with a value, or null. Slack's two tokens are easily mixed up. */
export function credentialProblem(name: CredentialName, value: string): string | null {
  const { isRight, expected } = shapes[name]
  return value.length <= 1_000 && isRight(value) ? null : `${name} must be ${expected}.`
}
