// Flags win over the environment, that wins over quarterdeck.yaml, that wins over the defaults. Unsafe combinations are refused.

import { isLoopback } from '../../domain/is-loopback.ts'
import { LOCAL_USER } from '../../domain/session/session.ts'
import { isPostgres, shownStore } from '../../domain/settings/store-settings.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { CONFIG_DIR_VARIABLE } from '../config-dir.ts'
import { ConfigError, type ConfigIssue, issueWithoutLine } from '../config-error.ts'
import { type Environment, proxyVariables } from '../source/env-file.ts'
import { assembleChannels } from './channel-settings.ts'
import { assembleIdentity } from './identity-settings.ts'
import { assemblePrices } from './price-settings.ts'
import type { ServerSettings } from './server-settings.ts'
import { createSourceFinder, readSetting, type SettingSource, type SettingSources } from './setting-source.ts'
import { type ReadSetting, type SettingKey, type SettingValues, settingKeys, settings } from './settings.ts'
import { assembleSupervision, checkSupervision } from './supervision-settings.ts'
import { assembleTelemetry, telemetryWarnings } from './telemetry-settings.ts'

export interface ResolveInput extends SettingSources {
  /** Whether the log goes to a terminal, where a person reads it. */
  onTerminal: boolean
}

export interface ResolvedSettings {
  settings: ServerSettings
  /** Sentences for the person who starts the server. */
  warnings: string[]
  /** Variables that the file names where a secret belongs, beside those with a name of ours. */
  secretVariables: string[]
}

/** What only the server may know. */
export const secretKeys = settingKeys.filter((key) => settings[key].holdsSecrets)

/** Throws a `ConfigError` with every mistake in all sources. */
export function resolveSettings({ onTerminal, ...sources }: ResolveInput): ResolvedSettings {
  const finder = createSourceFinder(sources)
  const issues: ConfigIssue[] = [...finder.fileIssues]
  const read = <K extends SettingKey>(key: K): SettingValues[K] => {
    const setting = settings[key]
    const source = finder.find(key)
    // The mistakes of a file are reported as a whole.
    if (source === null || (source.inFile && finder.fileIssues.length > 0)) return setting.default
    const result = readSetting(setting, source)
    if (result.ok) return result.value
    issues.push(...result.issues)
    return setting.default
  }
  for (const key of Object.keys(sources.code ?? {})) {
    if (Object.hasOwn(settings, key)) continue
    const near = didYouMean(key, settingKeys)
    const message = `there is no such setting${near === null ? '; docs/look-up/settings.md lists them all' : `. Did you mean ${near}?`}`
    issues.push(issueWithoutLine(message, { path: `settings: ${key}` }))
  }
  const isGiven = (key: SettingKey) => finder.find(key) !== null
  const resolved = assemble(read, isGiven, onTerminal, sources.env)
  if (issues.length > 0) throw new ConfigError(issues)

  const safety = checkSafety(resolved, { mode: read('auth.mode'), content: read('log.content') }, finder.find)
  if (safety.issues.length > 0) throw new ConfigError(safety.issues)
  const warnings = [
    ...mistypedVariables(sources.env),
    ...telemetryWarnings(resolved.telemetry, sources.env),
    ...safety.warnings,
  ]
  return { settings: resolved, warnings, secretVariables: [...new Set(secretKeys.flatMap(finder.variablesOf))] }
}

function assembleStore(read: ReadSetting): ServerSettings['store'] {
  const store = read('store')
  if (store === 'sqlite' || store === ':memory:') return store
  const waitMs = read('postgres.wait') * 1000
  return { url: store, commit: read('postgres.commit'), connections: read('postgres.connections'), waitMs }
}

function assemble(
  read: ReadSetting,
  isGiven: (key: SettingKey) => boolean,
  onTerminal: boolean,
  env: Environment,
): ServerSettings {
  const host = read('host')
  const loopback = isLoopback(host)
  const debug = read('debug')
  const format = read('log.format')
  const insecure = read('insecure')
  const mode = read('auth.mode')
  const token = read('auth.token')
  const grace = read('limits.disconnect_grace')
  const identity = assembleIdentity(read)
  const knowsPeople = token !== null || identity.issuers.length > 0 || identity.proxy !== null
  const cert = read('tls.cert')
  const key = read('tls.key')
  const perToken = (name: 'limits.posts_per_minute' | 'limits.streams', beyond: number) =>
    isGiven(name) || loopback ? read(name) : beyond
  const isThisMachine = !isGiven('host') || /^localhost\.?$/i.test(host)
  return {
    host,
    hosts: isThisMachine ? ['127.0.0.1', '::1'] : [host],
    port: read('port'),
    loopback,
    protocols: read('protocols'),
    cors: { origins: read('cors.origins') },
    allowedHosts: read('allowed_hosts'),
    log: {
      level: debug && !isGiven('log.level') ? 'debug' : read('log.level'),
      format: format === 'auto' ? (onTerminal ? 'text' : 'json') : format,
      content: debug && loopback && read('log.content') !== false,
    },
    debug,
    dataDir: read('data_dir'),
    store: assembleStore(read),
    auth: {
      token,
      operatorToken: read('auth.operator_token'),
      required: !insecure && (mode === 'token' || (mode === 'auto' && (!loopback || knowsPeople))),
      insecure: insecure && !loopback,
    },
    limits: {
      sessions: read('limits.sessions'),
      activeRuns: read('limits.active_runs'),
      disconnectGraceMs: grace === null ? null : grace * 1000,
      bodyBytes: read('limits.body_bytes'),
      queue: read('limits.queue'),
      postsPerMinute: perToken('limits.posts_per_minute', 600),
      streams: perToken('limits.streams', 200),
      perDay: read('limits.per_day'),
    },
    context: { maxMessages: read('context.max_messages') },
    tools: {
      timeoutMs: read('tools.timeout_seconds') * 1000,
      proxy: read('tools.proxy') ? proxyVariables(env) : null,
    },
    sessions: { ttlSeconds: read('sessions.ttl'), retentionDays: read('sessions.retention_days') },
    shutdown: { drainMs: read('shutdown.drain') * 1000 },
    publicDocs: read('public_docs'),
    console: read('console'),
    talk: { frameOrigins: read('talk.frame_origins') },
    files: {
      urls: read('files.urls'),
      unsentBytes: read('files.unsent_bytes'),
      unsentTtlSeconds: read('files.unsent_ttl'),
    },
    knowledge: { index: read('knowledge.index'), folders: read('knowledge.folders') },
    tls: cert === null || key === null ? null : { cert, key },
    open: read('open'),
    supervision: assembleSupervision(read, LOCAL_USER),
    channels: assembleChannels(read),
    prices: assemblePrices(read),
    tryModels: read('try_models'),
    identity,
    telemetry: assembleTelemetry(read),
  }
}

/** Without this warning, QUARTERDECK_PROT=80 would be ignored silently. */
function mistypedVariables(env: Environment): string[] {
  const known = [...settingKeys.flatMap((key) => settings[key].env), CONFIG_DIR_VARIABLE].filter((name) =>
    name.startsWith(PREFIX),
  )
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith(PREFIX) || known.includes(name)) return []
    const near = didYouMean(
      name.slice(PREFIX.length),
      known.map((one) => one.slice(PREFIX.length)),
    )
    return near === null ? [] : [`${name} is not a setting. Did you mean ${PREFIX}${near}?`]
  })
}

const PREFIX = 'QUARTERDECK_'

// Combinations of settings that are unsafe together. Each refusal names the flag that would allow it.

const SHORT_TOKEN = 16

function checkSafety(
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
  if (settings.identity.proxy !== null && !auth.required) {
    refuse(
      'proxy_auth.trusted',
      'the proxy says who people are, but without a token everybody may talk. Remove insecure and auth.mode none.',
    )
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

  const isFlag = find('store')?.name.startsWith('--') === true
  if (isPostgres(settings.store) && isFlag && shownStore(settings.store.url) !== settings.store.url) {
    refuse('store', 'everybody on this machine can read a password in a flag. Set QUARTERDECK_STORE instead.')
  }

  checkSupervision(settings.supervision, refuse)

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
  const { issuers, proxy } = settings.identity
  if (issuers.length === 0 && proxy === null && settings.supervision.operatorGroups.length > 0) {
    warnings.push('operators names a group, but nobody says who is in it: set oidc or proxy_auth.')
  }
  const { default: all, groups, users } = settings.limits.perDay
  const costs = [all, ...Object.values(groups), ...Object.values(users)].map(({ cost }) => cost ?? null)
  if (costs.some((cost) => cost !== null) && Object.keys(settings.prices.models).length === 0) {
    warnings.push(
      'limits.per_day has a cost, but prices.models has no prices, so no cost is known and none is refused.',
    )
  }
  if (debug && !loopback)
    warnings.push('Messages and answers are not logged while other machines can reach the server, even with --debug.')
  if (wanted.content === true && !debug) warnings.push('log.content does nothing without --debug.')
  return { issues, warnings }
}
