// Checks the ways to reach operators: their credentials, and whether their services can be used. It sends nobody a message, and never
// shows a credential.

import type { ServerSettings } from '../../../config/settings/server-settings.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { createConfigFile } from '../../../http/auth/config-folder/config-file.ts'
import {
  credentialNeeds,
  readChannelCredentials,
  usesNtfy,
} from '../../../operators/credentials/channel-credentials.ts'
import {
  type CredentialName,
  type CredentialSources,
  credentialNames,
  credentialProblem,
  credentialVariable,
  findCredential,
  isConflicting,
  requireCredential,
} from '../../../operators/credentials/credentials.ts'
import { type ConnectionPool, createConnections } from '../../../outgoing/connections.ts'
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

const NTFY_TIMEOUT_MS = 10_000

/** No checks for channels that are not configured. */
export async function checkChannels(settings: Settings, deps: ChannelCheckDeps): Promise<Check[]> {
  const connections = createConnections()
  const pool = connections.pool({ proxyVariables: settings.tools.proxy ?? {} })
  try {
    return [
      ...(await checkCredentials(settings, deps.sources)),
      ...(await checkSlackApp(settings, deps.sources, pool)),
      ...(await checkNtfy(settings, pool, deps.clock)),
      ...(await checkWebhooks(settings, pool, deps.lookup ?? systemLookup)),
      ...checkPushKeys(deps.kept),
    ]
  } finally {
    connections.close()
  }
}

const channelOf: Record<CredentialName, string> = {
  slack_app_token: 'Slack',
  slack_bot_token: 'Slack',
  slack_team_id: 'Slack',
  ntfy_token: 'ntfy',
  webhook_secret: 'Hooks',
}

async function checkCredentials(settings: Settings, sources: CredentialSources): Promise<Check[]> {
  const needs = credentialNeeds(settings)
  const checks: Check[] = []
  for (const credential of credentialNames) {
    const isRequired = needs[credential]
    if (isRequired === undefined) continue
    checks.push(...(await checkCredential(credential, isRequired, sources)))
  }
  return checks
}

async function checkCredential(
  credential: CredentialName,
  isRequired: boolean,
  sources: CredentialSources,
): Promise<Check[]> {
  const name = channelOf[credential]
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
    return [check, ...((await isConflicting(credential, sources)) ? [conflict(credential)] : [])]
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    return [{ name, status: 'fail', detail: error.message }]
  }
}

function conflict(credential: CredentialName): Check {
  const variable = credentialVariable(credential)
  return {
    name: channelOf[credential],
    status: 'warn',
    detail: `The keychain and ${variable} have different values for ${credential}; the keychain counts`,
    mend: `Remove ${variable} from the environment, or store its value: quarterdeck ctl credential set ${credential}`,
  }
}

/** Only with tokens that can be right: what is wrong with the others was said already. */
async function checkSlackApp(settings: Settings, sources: CredentialSources, pool: ConnectionPool): Promise<Check[]> {
  const { supervision, channels } = settings
  const { slack } = await readChannelCredentials({ supervision, channels: { webhooks: [] } }, sources).catch(
    (error) => {
      if (error instanceof ServerError) return { slack: null }
      throw error
    },
  )
  if (slack === null) return []
  const { checkSlack } = await import('../../../operators/slack/check-slack.ts')
  const found = await checkSlack({
    ...slack,
    apiUrl: channels.slack.apiUrl,
    rooms: supervision.slack.channels,
    operators: supervision.operators,
    fetch: pool.fetch,
  })
  return found.map(({ isOk, what, mend }) => ({
    name: 'Slack',
    status: isOk ? 'ok' : 'fail',
    detail: what,
    ...(mend === null ? {} : { mend }),
  }))
}

/** Its topics are not touched: whoever reads them would see it. */
async function checkNtfy(settings: Settings, pool: ConnectionPool, clock: Clock): Promise<Check[]> {
  if (!usesNtfy(settings)) return []
  const name = 'ntfy'
  const { url } = settings.channels.ntfy
  const mend = 'Start the ntfy server, or fix ntfy.url. Behind a proxy, check HTTPS_PROXY and tools.proxy.'
  const timeout = new AbortController()
  const stopWaiting = clock.after(NTFY_TIMEOUT_MS, () => timeout.abort())
  try {
    const response = await pool.fetch(`${url}/v1/health`, { signal: timeout.signal })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok && isRecord(answer) && answer.healthy === true)
      return [{ name, status: 'ok', detail: `${url} works` }]
    const detail = `${url} answers ${response.status}, but not as a healthy ntfy server does`
    return [{ name, status: 'fail', detail, mend }]
  } catch {
    const why = timeout.signal.aborted ? `does not answer within ${NTFY_TIMEOUT_MS / 1_000} s` : 'cannot be reached'
    return [{ name, status: 'fail', detail: `${url} ${why}`, mend }]
  } finally {
    stopWaiting()
  }
}

/** Only looks the names up: a request would be a message. */
async function checkWebhooks(
  { channels: { webhooks } }: Settings,
  pool: ConnectionPool,
  lookup: Lookup,
): Promise<Check[]> {
  const check = async (webhook: { name: string; url: string }): Promise<Check> => {
    const name = 'Hooks'
    const url = new URL(webhook.url)
    const shown = `${webhook.name}: ${url.host}`
    if (pool.isProxied(url)) return { name, status: 'ok', detail: `${shown} is behind a proxy` }
    try {
      await lookup(url.hostname.replace(/^\[|\]$/g, ''))
      return { name, status: 'ok', detail: `${shown} has an address` }
    } catch {
      const mend = 'Fix its url under webhooks in quarterdeck.yaml, or check the network.'
      return { name, status: 'fail', detail: `${shown} has no address: the name is not known`, mend }
    }
  }
  return Promise.all(webhooks.map(check))
}

/** They are made when the first browser subscribes. */
function checkPushKeys(kept: ChannelCheckDeps['kept']): Check[] {
  if (kept === null) return []
  const name = 'Push'
  const why = 'Otherwise the server makes new ones, and browsers must subscribe again.'
  try {
    const file = createConfigFile('push', { ...kept, makeFolder() {} })
    const text = file.read({ maxBytes: 10_000, refuse: (reason) => new ServerError('config_invalid', reason) })
    if (text === null) return []
    const keys = parsed(text)
    if (isRecord(keys) && typeof keys.publicKey === 'string' && typeof keys.privateKey === 'string') {
      return [{ name, status: 'ok', detail: 'the keys for Web Push are there' }]
    }
    return [
      { name, status: 'warn', detail: `${file.path} holds no keys for Web Push`, mend: `Restore the file. ${why}` },
    ]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [
      { name, status: 'warn', detail: `The keys for Web Push cannot be used: ${reason}`, mend: `Mend that. ${why}` },
    ]
  }
}

/** Null if it is not JSON. The error of the parser would show a part of the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
