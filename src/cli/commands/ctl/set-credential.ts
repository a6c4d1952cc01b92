import { didYouMean } from '../../../domain/text/did-you-mean.ts'
import { credentialNames, credentialProblem, credentialVariable } from '../../../operators/credentials/credentials.ts'
import { createKeychain, type Keychain } from '../../../operators/credentials/keychain.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { typedSecrets } from './typed-secret.ts'

export async function setCredential(
  given: string,
  { valueFd }: { valueFd?: string },
  io: Io,
  keychain: Keychain = createKeychain(io.clock),
): Promise<void> {
  const name = knownName(given)
  const [value = ''] = await typedSecrets([`${name}: `], { fd: valueFd, flag: '--value-fd' }, io)
  const wrong = credentialProblem(name, value)
  if (wrong !== null) throw new CliError(exitCodes.usage.code, `${wrong} Nothing has changed.`)
  const problem = await keychain.set(name, value)
  if (problem !== null) {
    throw new CliError(exitCodes.failed.code, `The keychain cannot be used here: ${problem}.`, [
      `Set ${credentialVariable(name)} in the environment of the server instead.`,
    ])
  }
  io.stderr.write(`${name} is in the keychain. The server reads it when it starts.\n`)
}

function knownName(given: string): string {
  const name = credentialNames.find((one) => one === given)
  if (name !== undefined) return name
  const near = didYouMean(given, credentialNames)
  const hint = near === null ? `Known: ${credentialNames.join(', ')}.` : `Did you mean ${near}?`
  throw new CliError(exitCodes.usage.code, `There is no credential ${JSON.stringify(given)}. ${hint}`)
}
