// Checks the ways to reach operators: their credentials, and whether their services can be used. It sends nobody a message, and never
// shows a credential.

import type { ServerSettings } from '../../../config/settings/server-settings.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { createConfigFile } from '../../../http/auth/config-folder/config-file.ts'
import type { CheckParts } from '../../../operators/channel-kind.ts'
import { readChannelCredentials, usedChannels } from '../../../operators/credentials/channel-credentials.ts'
import {
  type CredentialSources,
  credentialProblem,
  credentialVariable,
  findCredential,
  isConflicting,
  requireCredential,
} from '../../../operators/credentials/credentials.ts'
import { createConnections } from '../../../outgoing/connections.ts'
import { type Lookup, systemLookup } from '../../../tools/http/service/service-http.ts'
import type { Check } from './checks.ts'

type Settings = Pick<ServerSettings, 'supervision' | 'channels' | 'tools'>

interface ChannelCheckDeps {
  sources: CredentialSources
  /** Where the server keeps its secrets. Null: nowhere, or there is no data directory yet. */
  kept: { configDir: string; dataDir: string } | null
  clock: Clock
  lookup?: Lookup
}

/** No checks for channels that are not configured. */
export async function checkChannels(settings: Settings, deps: ChannelCheckDeps): Promise<Check[]> {
  const connections = createConnections()
  try {
    const shared = {
      outgoing: connections.pool({ proxyVariables: settings.tools.proxy ?? {} }),
      lookup: deps.lookup ?? systemLookup,
      kept: keptBy(deps.kept),
      clock: deps.clock,
    }
    const checks: Check[] = []
    for (const { kind, configured } of usedChannels(settings)) {
      const name = kind.words.short
      for (const [credential, { isRequired }] of Object.entries(kind.credentials)) {
        checks.push(...(await checkCredential(name, credential, isRequired, deps.sources)))
      }
      const credentials = await readChannelCredentials([kind], deps.sources).catch((error: unknown) => {
        if (error instanceof ServerError) return null
        throw error
      })
      const found = await kind.check({ ...shared, ...configured, credentials })
      checks.push(...found.map((one) => ({ name, ...one })))
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

async function checkCredential(
  name: string,
  credential: string,
  isRequired: boolean,
  sources: CredentialSources,
): Promise<Check[]> {
  try {
    const found = await (isRequired ? requireCredential : findCredential)(credential, sources)
    if (found === null) return []
    const problem = credentialProblem(credential, found.value)
    const variable = credentialVariable(credential)
    const place = found.from === 'keychain' ? 'in the keychain' : `in ${variable}`
    const command = `quarterdeck ctl credential set ${credential}`
    const mend =
      found.from === 'keychain' ? `Set it again: ${command}` : `Correct ${variable}, or remove it and run: ${command}`
    const check: Check =
      problem === null
        ? { name, status: 'ok', detail: `${credential} is ${place}` }
        : { name, status: 'fail', detail: `What is ${place} cannot be right: ${problem}`, mend }
    return [check, ...((await isConflicting(credential, sources)) ? [conflict(name, credential)] : [])]
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    return [{ name, status: 'fail', detail: error.message }]
  }
}

function conflict(name: string, credential: string): Check {
  const variable = credentialVariable(credential)
  return {
    name,
    status: 'warn',
    detail: `The keychain and ${variable} have different values for ${credential}; the keychain counts`,
    mend: `Remove ${variable} from the environment, or store its value: quarterdeck ctl credential set ${credential}`,
  }
}
