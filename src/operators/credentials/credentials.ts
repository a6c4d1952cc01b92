// Secrets of operator channels: in the keychain of the operating system, else in the environment. Never in a file of ours, where an agent
// could read them.

import { ServerError } from '../../domain/errors.ts'
import { channels } from '../channels.ts'
import type { Keychain } from './keychain.ts'

const kinds = new Map(channels.flatMap(({ credentials }) => Object.entries(credentials)))

export const credentialNames: readonly string[] = [...kinds.keys()]

/** The variable that is read when the keychain has nothing. */
export const credentialVariable = (name: string): string => name.toUpperCase()

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
export const findCredential = async (name: string, sources: CredentialSources): Promise<Credential | null> =>
  (await lookFor(name, sources)).found

/** `problem`: why the keychain could not be asked. */
async function lookFor(
  name: string,
  { keychain, env }: CredentialSources,
): Promise<{ found: Credential | null; problem: string | null }> {
  const { value: kept, problem } = await keychain.get(name)
  if (kept !== null) return { found: { value: kept, from: 'keychain' }, problem }
  const value = env[credentialVariable(name)]?.trim() ?? ''
  return { found: value === '' ? null : { value, from: 'environment' }, problem }
}

/** Like `findCredential`, but throws `config_invalid` with both ways to set it. */
export async function requireCredential(name: string, sources: CredentialSources): Promise<Credential> {
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
export async function isConflicting(name: string, { keychain, env }: CredentialSources): Promise<boolean> {
  const value = env[credentialVariable(name)]?.trim() ?? ''
  const kept = value === '' ? null : (await keychain.get(name)).value
  return kept !== null && kept !== value
}

/** What is wrong with a value, or null. Slack's two tokens are easily mixed up. */
export function credentialProblem(name: string, value: string): string | null {
  const kind = kinds.get(name)
  if (kind === undefined || (value.length <= 1_000 && kind.isRight(value))) return null
  return `${name} must be ${kind.expected}.`
}
