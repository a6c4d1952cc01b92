import { ServerError } from '../../../domain/errors.ts'
import {
  type CredentialSources,
  conflictingCredentials,
  credentialVariable,
  requireCredential,
} from '../../../operators/credentials/credentials.ts'
import type { Check } from './checks.ts'

const NAME = 'Slack'

/** Looks for the credentials that a server with Slack needs. Their values are never shown. */
export async function checkCredentials(sources: CredentialSources): Promise<Check[]> {
  const checks: Check[] = []
  for (const name of ['slack_app_token', 'slack_bot_token'] as const) {
    try {
      const { from } = await requireCredential(name, sources)
      checks.push({ name: NAME, status: 'ok', detail: `${name} comes from the ${from}` })
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      checks.push({ name: NAME, status: 'fail', detail: error.message })
    }
  }
  for (const name of await conflictingCredentials(sources)) {
    const variable = credentialVariable(name)
    checks.push({
      name: NAME,
      status: 'warn',
      detail: `The keychain and ${variable} have different values for ${name}; the keychain counts`,
      mend: `Remove ${variable} from the environment, or store its value: quarterdeck ctl credential set ${name}`,
    })
  }
  return checks
}
