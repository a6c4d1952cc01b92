// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import { describe, expect, test } from 'vitest'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { doorNames } from '../../doors.ts'
import { ConfigError, formatIssue } from '../config-error.ts'
import { type ResolveInput, resolveSettings } from './resolve-settings.ts'
import type { ServerSettings } from './server-settings.ts'

interface Given extends Partial<Omit<ResolveInput, 'file'>> {
  yaml?: string
}

const resolve = ({ yaml, ...given }: Given = {}) =>
  resolveSettings({
    flags: {},
    env: {},
    onTerminal: false,
    ...given,
    file: yaml === undefined ? null : { path: '/etc/q/quarterdeck.yaml', text: yaml },
  })

const settings = (given: Given): ServerSettings => resolve(given).settings

const mistakes = (given: Given): string[] => {
  try {
    resolve(given)
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map(formatIssue)
    throw error
  }
  return []
}

/** The settings about agents that work elsewhere, where nothing is set. */
const noSupervision: ServerSettings['supervision'] = {
  defaultWorkspaceRoot: null,
  workspaces: [],
  operators: [testOperator({ name: 'local_user', local: true, admin: true })],
  operatorGroups: [],
  escalation: [],
  quorum: { low: 1, high: 1, critical: 1 },
  maxConcurrentSessions: 3,
  maxConcurrentSessionsTotal: null,
  hostCli: null,
  hostCliArgs: [],
  timeouts: { approvalMs: 3_600_000, promptMs: 1_800_000, waitMs: null },
  stall: {
    enabled: true,
    inactivityMs: 300_000,
    escalationMs: 120_000,
    maxRetries: 3,
    nudgeMessage: expect.stringContaining('heartbeat'),
  },
  commands: {},
  slack: { channelId: null, channels: [] },
  modes: { agentMaySet: true },
  ipcName: null,
}

const noChannels: ServerSettings['channels'] = {
  publicUrl: null,
  // `channel-settings.test.ts` looks at each of them.
  own: expect.any(Object),
}

describe('settings', () => {
  test.each([
    [undefined, ['127.0.0.1', '::1']],
    ['localhost', ['127.0.0.1', '::1']],
    ['127.0.0.1', ['127.0.0.1']],
    ['0.0.0.0', ['0.0.0.0']],
  ])('with host %s listen on %j', (host, hosts) => {
    expect(resolve(host === undefined ? {} : { flags: { host } }).settings.hosts).toEqual(hosts)
  })

  test('have defaults that suit a laptop', () => {
    expect(resolve()).toEqual({
      settings: {
        host: '127.0.0.1',
        hosts: ['127.0.0.1', '::1'],
        port: 8000,
        loopback: true,
        protocols: doorNames,
        cors: { origins: ['local'] },
        allowedHosts: [],
        log: { level: 'info', format: 'json', content: false },
        debug: false,
        dataDir: null,
        store: 'sqlite',
        auth: { token: null, operatorToken: null, required: false, insecure: false },
        limits: {
          sessions: null,
          activeRuns: 2000,
          disconnectGraceMs: 10_000,
          bodyBytes: 10_000_000,
          queue: 8,
          postsPerMinute: null,
          streams: null,
          perDay: { default: {}, groups: {}, users: {} },
        },
        context: { maxMessages: 200 },
        tools: { timeoutMs: 30_000, proxy: null },
        sessions: { ttlSeconds: 1800, retentionDays: 30 },
        shutdown: { drainMs: 5000 },
        publicDocs: false,
        console: true,
        talk: { frameOrigins: [] },
        files: { urls: false, unsentBytes: 1_000_000_000, unsentTtlSeconds: 86_400 },
        knowledge: { index: true, folders: [] },
        tls: null,
        open: false,
        supervision: noSupervision,
        channels: noChannels,
        prices: { currency: 'USD', models: {} },
        tryModels: [],
        identity: { issuers: [], proxy: null },
        telemetry: null,
      },
      warnings: [],
      secretVariables: [],
    })
  })

  test('can all be written in quarterdeck.yaml', () => {
    const yaml = `
host: "[::1]"
port: 9000
protocols: [rest, ag-ui]
cors: { origins: [local, HTTPS://App.Example.com:443, "tauri://localhost"] }
allowed_hosts: [a.example, "b.example:8443"]
log: { level: WARNING, format: text, content: false }
debug: true
data_dir: data
store: ":memory:"
auth: { token: "\${TEAM_TOKEN}", operator_token: fedcba9876543210, mode: token }
insecure: false
limits:
  sessions: 1
  active_runs: 2
  disconnect_grace: never
  body_bytes: 3000
  queue: 0
  posts_per_minute: 5
  streams: none
context: { max_messages: 6 }
tools: { timeout_seconds: 1m, proxy: true }
sessions: { ttl: 2h, retention_days: 0 }
shutdown: { drain: 0 }
public_docs: true
console: false
talk: { frame_origins: ["https://App.example.com:443", "http://localhost:3000"] }
knowledge: { index: false, folders: [docs, /srv/handbook] }
tls: { cert: tls/cert.pem, key: /abs/key.pem }
open: true
prices: { currency: EUR, models: { openai/*: { input: 1, output: 2.5, cached_input: 0 } } }
try_models: [openai/gpt-5]
telemetry:
  endpoint: http://collector:4318/
  traces_endpoint: https://traces.example.com/otlp/v1/traces
  headers: { x-key: "\${TEAM_TOKEN}" }
  service_name: agents
  resource_attributes: { deployment.environment.name: test }
  sampler: parentbased_traceidratio
  sampler_arg: 0.25
  content: true
  content_chars: 500
`
    expect(resolve({ yaml, env: { TEAM_TOKEN: '0123456789abcdef' } })).toEqual({
      settings: {
        host: '::1',
        hosts: ['::1'],
        port: 9000,
        loopback: true,
        protocols: ['ag-ui', 'rest'],
        cors: { origins: ['local', 'https://app.example.com', 'tauri://localhost'] },
        allowedHosts: ['a.example', 'b.example:8443'],
        log: { level: 'warn', format: 'text', content: false },
        debug: true,
        dataDir: '/etc/q/data',
        store: ':memory:',
        auth: { token: '0123456789abcdef', operatorToken: 'fedcba9876543210', required: true, insecure: false },
        limits: {
          sessions: 1,
          activeRuns: 2,
          disconnectGraceMs: null,
          bodyBytes: 3000,
          queue: 0,
          postsPerMinute: 5,
          streams: null,
          perDay: { default: {}, groups: {}, users: {} },
        },
        context: { maxMessages: 6 },
        tools: { timeoutMs: 60_000, proxy: {} },
        sessions: { ttlSeconds: 7200, retentionDays: 0 },
        shutdown: { drainMs: 0 },
        publicDocs: true,
        console: false,
        talk: { frameOrigins: ['https://app.example.com', 'http://localhost:3000'] },
        files: { urls: false, unsentBytes: 1_000_000_000, unsentTtlSeconds: 86_400 },
        knowledge: { index: false, folders: ['/etc/q/docs', '/srv/handbook'] },
        tls: { cert: '/etc/q/tls/cert.pem', key: '/abs/key.pem' },
        open: true,
        supervision: noSupervision,
        channels: noChannels,
        prices: { currency: 'EUR', models: { 'openai/*': { input: 1, output: 2.5, cachedInput: 0 } } },
        tryModels: ['openai/gpt-5'],
        identity: { issuers: [], proxy: null },
        telemetry: {
          endpoints: {
            traces: 'https://traces.example.com/otlp/v1/traces',
            metrics: 'http://collector:4318/v1/metrics',
            logs: 'http://collector:4318/v1/logs',
          },
          headers: { 'x-key': '0123456789abcdef' },
          serviceName: 'agents',
          resource: { 'deployment.environment.name': 'test' },
          sampler: 'parentbased_traceidratio',
          samplerRatio: 0.25,
          content: true,
          contentChars: 500,
        },
      },
      warnings: [],
      secretVariables: ['TEAM_TOKEN'],
    })
  })

  test('flags win over the environment, the environment over the file, the file over the defaults', () => {
    const yaml = 'port: 1111'
    expect(settings({ flags: { port: '4444' }, env: { QUARTERDECK_PORT: '3333', PORT: '2222' }, yaml }).port).toBe(4444)
    expect(settings({ env: { QUARTERDECK_PORT: '3333', PORT: '2222' }, yaml }).port).toBe(3333)
    expect(settings({ env: { PORT: '2222', AGUI_PORT: '2221' }, yaml }).port).toBe(2222)
    expect(settings({ env: { QUARTERDECK_PORT: '', PORT: ' ' }, yaml }).port).toBe(1111)
    expect(settings({ yaml: '# nothing yet' }).port).toBe(8000)
  })

  test('a wrong variable does not matter if a flag overrides it', () => {
    expect(settings({ flags: { port: '1234' }, env: { PORT: 'http' } }).port).toBe(1234)
  })

  test.each<[Record<string, string>, (s: ServerSettings) => unknown, unknown]>([
    [{ AGUI_HOST: 'localhost' }, (s) => s.host, 'localhost'],
    [{ HOST: '127.0.0.2' }, (s) => s.host, '127.0.0.2'],
    [{ AGUI_PORT: '81' }, (s) => s.port, 81],
    [{ QUARTERDECK_PROTOCOLS: 'openai, AG-UI' }, (s) => s.protocols, ['ag-ui', 'openai']],
    [{ QUARTERDECK_PROTOCOLS: 'all' }, (s) => s.protocols, doorNames],
    [{ QUARTERDECK_CORS_ORIGINS: 'local,https://a.example' }, (s) => s.cors.origins, ['local', 'https://a.example']],
    [{ LOG_LEVEL: 'WARNING' }, (s) => s.log.level, 'warn'],
    [{ LOG_LEVEL: 'Critical' }, (s) => s.log.level, 'error'],
    [{ LOG_LEVEL: 'NOTSET' }, (s) => s.log.level, 'debug'],
    [{ LOG_LEVEL: 'silent' }, (s) => s.log.level, 'silent'],
    [{ QUARTERDECK_LOG_LEVEL: 'error', LOG_LEVEL: 'debug' }, (s) => s.log.level, 'error'],
    [{ DATA_DIR: 'here' }, (s) => s.dataDir, 'here'],
    [{ MAX_THREADS: '100' }, (s) => s.limits.sessions, 100],
    [{ MAX_THREADS: 'none' }, (s) => s.limits.sessions, null],
    [{ MAX_MESSAGES_PER_THREAD: '5' }, (s) => s.context.maxMessages, 5],
    [{ TOOL_TIMEOUT_SECONDS: '2.5' }, (s) => s.tools.timeoutMs, 2500],
    [{ QUARTERDECK_LIMITS_DISCONNECT_GRACE: '0' }, (s) => s.limits.disconnectGraceMs, 0],
    [{ QUARTERDECK_LIMITS_DISCONNECT_GRACE: 'never' }, (s) => s.limits.disconnectGraceMs, null],
    [{ QUARTERDECK_FILES_UNSENT_BYTES: '5000' }, (s) => s.files.unsentBytes, 5000],
    [{ QUARTERDECK_FILES_UNSENT_BYTES: 'none' }, (s) => s.files.unsentBytes, null],
    [{ QUARTERDECK_FILES_UNSENT_TTL: '90m' }, (s) => s.files.unsentTtlSeconds, 5400],
    [{ QUARTERDECK_OPEN: 'yes' }, (s) => s.open, true],
    [{ QUARTERDECK_PUBLIC_DOCS: '0' }, (s) => s.publicDocs, false],
    [{ QUARTERDECK_CONSOLE: 'false' }, (s) => s.console, false],
    [
      { QUARTERDECK_TOKEN: '12345678901234567890' },
      (s) => s.auth,
      { token: '12345678901234567890', operatorToken: null, required: true, insecure: false },
    ],
  ])('the environment %j is understood', (env, read, expected) => {
    expect(read(settings({ env }))).toEqual(expected)
  })

  test('a repeated flag is a list, and each value may contain commas', () => {
    expect(settings({ flags: { protocols: ['mcp', 'rest,ag-ui'] } }).protocols).toEqual(['ag-ui', 'rest', 'mcp'])
  })

  test('switches need no value', () => {
    expect(settings({ flags: { open: true, public_docs: true } })).toMatchObject({ open: true, publicDocs: true })
    expect(settings({ flags: { console: false } })).toMatchObject({ console: false })
  })

  test('the log is text on a terminal and JSON elsewhere', () => {
    expect([settings({ onTerminal: true }).log.format, settings({ onTerminal: false }).log.format]).toEqual([
      'text',
      'json',
    ])
    expect(settings({ onTerminal: true, flags: { 'log.format': 'json' } }).log.format).toBe('json')
  })

  test('debug logs everything, unless a level is set or content is turned off', () => {
    const log = (flags: ResolveInput['flags']) => settings({ flags }).log
    expect(log({ debug: true })).toEqual({ level: 'debug', format: 'json', content: true })
    expect(log({ debug: true, 'log.level': 'warn' })).toEqual({ level: 'warn', format: 'json', content: true })
    expect(log({ debug: true, 'log.content': 'no' })).toEqual({ level: 'debug', format: 'json', content: false })
  })
})

describe('a wrong setting', () => {
  test.each<[Given, string]>([
    [
      { flags: { port: 'http' } },
      '--port: expected a whole number between 0 and 65535, found "http". Write e.g. --port 8000',
    ],
    [
      { flags: { port: '70000' } },
      '--port: expected a whole number between 0 and 65535, found 70000. Write e.g. --port 8000',
    ],
    [{ env: { PORT: '80.5' } }, 'PORT: expected a whole number between 0 and 65535, found 80.5. Write e.g. PORT=8000'],
    [
      { yaml: 'port: http' },
      '/etc/q/quarterdeck.yaml:1:7 port: expected a whole number between 0 and 65535, found "http". Write e.g. port: 8000',
    ],
    [
      { yaml: 'port: ${P}', env: { P: 'x' } },
      '/etc/q/quarterdeck.yaml:1:7 port: expected a whole number between 0 and 65535, found a value that is not shown here. Write e.g. port: 8000',
    ],
    [
      { flags: { host: 'http://x' } },
      '--host: expected an IP address or a host name, found "http://x". Write e.g. --host 0.0.0.0',
    ],
    [
      { env: { HOST: '300.1.1.1' } },
      'HOST: expected an IP address or a host name, found "300.1.1.1". Write e.g. HOST=0.0.0.0',
    ],
    [
      { flags: { protocols: ['rest', 'agui'] } },
      `--protocol: expected one of ${doorNames.join(', ')}, found "agui". Did you mean ag-ui?`,
    ],
    [
      { env: { QUARTERDECK_PROTOCOLS: ',' } },
      `QUARTERDECK_PROTOCOLS: expected all, or a list of ${doorNames.join(', ')}, found an empty list. Write e.g. QUARTERDECK_PROTOCOLS=ag-ui,rest`,
    ],
    [
      { flags: { 'cors.origins': ['https://a.example/path'] } },
      '--cors-origins: expected an origin such as https://app.example.com (without a path), local, or *, found "https://a.example/path".',
    ],
    ...['*', 'local', 'tauri://localhost', 'https://*.example.com', 'https://a;b.example'].map(
      (origin): [object, string] => [
        { flags: { 'talk.frame_origins': [origin] } },
        `--talk-frame-origins: expected an origin such as https://app.example.com (without a path), found "${origin}".`,
      ],
    ),
    [
      { flags: { 'cors.origins': ['*', 'https://a.example'] } },
      '--cors-origins: expected a list of origins such as https://app.example.com (without a path), local, or * alone, found a list. Write e.g. --cors-origins local,https://app.example.com',
    ],
    [
      { env: { LOG_LEVEL: 'loud' } },
      'LOG_LEVEL: expected one of debug, info, warn, error, silent (or DEBUG, INFO, WARNING, ERROR, CRITICAL, NOTSET), found "loud". Write e.g. LOG_LEVEL=warn',
    ],
    [
      { env: { MAX_THREADS: '0' } },
      'MAX_THREADS: expected a whole number of at least 1, or none, found 0. Write e.g. MAX_THREADS=10000',
    ],
    [
      { env: { TOOL_TIMEOUT_SECONDS: '-1' } },
      'TOOL_TIMEOUT_SECONDS: expected seconds, or a time such as "30s", "15m" or "2h", at most 24 days, found -1. Write e.g. TOOL_TIMEOUT_SECONDS=30',
    ],
    [
      { flags: { 'limits.disconnect_grace': 'later' } },
      '--disconnect-grace: expected zero or more seconds, or a time such as "30s", "15m" or "2h", at most 24 days, or never, found "later". Write e.g. --disconnect-grace 10s',
    ],
    [
      { flags: { store: 'postgres' } },
      '--store: expected sqlite, :memory: or postgres://user@host/database, found "postgres". Write e.g. --store sqlite',
    ],
    [
      { env: { QUARTERDECK_TOKEN: 'has space' } },
      'QUARTERDECK_TOKEN: expected text without spaces, found a value that is not shown here. Write e.g. QUARTERDECK_TOKEN=$(openssl rand -hex 32)',
    ],
    [
      { yaml: 'auth: { token: 12 }' },
      '/etc/q/quarterdeck.yaml:1:16 auth.token: expected text without spaces, found a value that is not shown here. Write e.g. token: "${QUARTERDECK_TOKEN}"',
    ],
    [{ yaml: 'prot: 1' }, '/etc/q/quarterdeck.yaml:1:1 prot: unknown key. Did you mean port?'],
    [
      { yaml: 'limits:\n  activeruns: 1' },
      '/etc/q/quarterdeck.yaml:2:3 limits.activeruns: unknown key. Did you mean active_runs?',
    ],
    [
      { yaml: 'log: debug' },
      '/etc/q/quarterdeck.yaml:1:6 log: expected keys with values, found "debug". Write e.g. log: { level: warn }',
    ],
    [{ yaml: '- port' }, '/etc/q/quarterdeck.yaml:1:1: expected keys with values at the top, found a list.'],
    [{ flags: { 'tls.cert': 'c.pem' } }, '--tls-cert: tls.cert needs tls.key too. Set both or neither.'],
    [
      { yaml: 'tls: { key: k.pem }' },
      '/etc/q/quarterdeck.yaml:1:13 tls.key: tls.key needs tls.cert too. Set both or neither.',
    ],
  ])('%j says where it is and what to write', (given, message) => {
    expect(mistakes(given)).toEqual([message])
  })

  test('is reported together with those of all other sources', () => {
    const given = { flags: { port: 'x' }, env: { LOG_LEVEL: 'x', PORT: 'ignored' }, yaml: 'store: x\nfoo: 1\nport: 1' }
    expect(mistakes(given).map((line) => line.slice(0, line.indexOf(': ')))).toEqual([
      '/etc/q/quarterdeck.yaml:1:8 store',
      '/etc/q/quarterdeck.yaml:2:1 foo',
      '--port',
      'LOG_LEVEL',
    ])
  })
})

describe('safety', () => {
  const TOKEN = '0123456789abcdef0123456789abcdef'
  const tls = { 'tls.cert': 'c', 'tls.key': 'k' }

  test.each<[string, Given, boolean]>([
    ['on this machine no token is required', {}, false],
    ['a token is required if other machines can connect', { flags: { host: '0.0.0.0', ...tls } }, true],
    ['a token that is set is required on this machine too', { env: { QUARTERDECK_TOKEN: TOKEN } }, true],
    ['--auth token requires one on this machine too', { flags: { 'auth.mode': 'token' } }, true],
    ['--auth none is allowed on this machine', { flags: { 'auth.mode': 'none' } }, false],
    ['the operators’ token does not make users need one', { env: { QUARTERDECK_OPERATOR_TOKEN: TOKEN } }, false],
  ])('%s', (_, given, required) => {
    const { settings: resolved, warnings } = resolve(given)
    expect([resolved.auth.required, resolved.auth.insecure, warnings]).toEqual([required, false, []])
  })

  test('only --insecure lets other machines in without a token, and it warns', () => {
    const { settings: resolved, warnings } = resolve({ flags: { host: '0.0.0.0', insecure: true, ...tls } })
    expect([resolved.auth, warnings]).toEqual([
      { token: null, operatorToken: null, required: false, insecure: true },
      ['Anyone who can reach 0.0.0.0:8000 can use this agent and your model key, because --insecure turns tokens off.'],
    ])
  })

  test('--auth none is refused if other machines can connect, and the message names --insecure', () => {
    expect(mistakes({ flags: { host: '0.0.0.0', 'auth.mode': 'none' } })).toEqual([
      '--auth: without a token, the server may only listen on this machine, not on 0.0.0.0. Add --insecure if you really want this.',
    ])
    expect(mistakes({ flags: { host: '0.0.0.0', 'auth.mode': 'none', insecure: true } })).toEqual([])
  })

  test('every web page is allowed only if a token is required', () => {
    const refusal = '* lets every web page use this server without a token. Add --auth token, or list the origins.'
    expect(mistakes({ flags: { 'cors.origins': ['*'] } })).toEqual([`--cors-origins: ${refusal}`])
    expect(mistakes({ env: { QUARTERDECK_CORS_ORIGINS: '*' } })).toEqual([`QUARTERDECK_CORS_ORIGINS: ${refusal}`])
    expect(mistakes({ yaml: 'cors:\n  origins: "*"' })).toEqual([
      `/etc/q/quarterdeck.yaml:2:12 cors.origins: ${refusal}`,
    ])
    expect(mistakes({ flags: { 'cors.origins': '*', host: '0.0.0.0', insecure: true } })).toEqual([
      `--cors-origins: ${refusal}`,
    ])
    expect(settings({ flags: { 'cors.origins': '*', 'auth.mode': 'token' } }).cors.origins).toEqual(['*'])
    expect(settings({ flags: { 'cors.origins': '*', host: '0.0.0.0' } }).cors.origins).toEqual(['*'])
  })

  test('contradictions are refused', () => {
    expect(mistakes({ flags: { insecure: true, 'auth.mode': 'token' } })).toEqual([
      '--auth: this requires a token, but insecure turns tokens off. Remove one of the two.',
    ])
    expect(mistakes({ env: { QUARTERDECK_TOKEN: TOKEN, QUARTERDECK_OPERATOR_TOKEN: TOKEN } })).toEqual([
      'QUARTERDECK_OPERATOR_TOKEN: this is also the users’ token, so every user could approve tool calls. Set a different one.',
    ])
  })

  test.each<[Given, string]>([
    [
      { flags: { port: '80' } },
      'Port 80 is below 1024: most systems reserve those ports for root. Use e.g. --port 8000.',
    ],
    [
      { flags: { host: '192.168.0.7' } },
      'Other machines can reach 192.168.0.7, and TLS is off: put a TLS proxy in front, or set --tls-cert and --tls-key.',
    ],
    [
      { env: { QUARTERDECK_TOKEN: 'short' } },
      'auth.token is so short that it could be guessed. Create one with: openssl rand -hex 32',
    ],
    [
      { env: { QUARTERDECK_TOKEN: TOKEN }, flags: { insecure: true } },
      'auth.token is set but not required, because of insecure or auth.mode none.',
    ],
    [{ flags: { 'log.content': true } }, 'log.content does nothing without --debug.'],
    [
      { flags: { debug: true, host: '0.0.0.0', ...tls } },
      'Messages and answers are not logged while other machines can reach the server, even with --debug.',
    ],
    [{ env: { QUARTERDECK_PROT: '80' } }, 'QUARTERDECK_PROT is not a setting. Did you mean QUARTERDECK_PORT?'],
  ])('%j is warned about', (given, warning) => {
    expect(resolve(given).warnings).toEqual([warning])
  })

  test('port 0 and port 1024 are nothing to warn about', () => {
    expect([resolve({ flags: { port: '0' } }).warnings, resolve({ flags: { port: '1024' } }).warnings]).toEqual([
      [],
      [],
    ])
  })

  test('content is never logged if other machines can connect', () => {
    expect(settings({ flags: { host: '0.0.0.0', debug: true, 'log.content': 'yes' } }).log.content).toBe(false)
  })

  test('limits per user are on if other machines can connect, unless they are set', () => {
    const limits = (flags: ResolveInput['flags']) => {
      const { postsPerMinute, streams } = settings({ flags }).limits
      return [postsPerMinute, streams]
    }
    expect(limits({ host: '0.0.0.0' })).toEqual([600, 200])
    expect(limits({ host: '0.0.0.0', 'limits.posts_per_minute': 'none', 'limits.streams': '7' })).toEqual([null, 7])
    expect(limits({ 'limits.posts_per_minute': '9' })).toEqual([9, null])
  })
})

test('a Postgres store has its URL and how it commits', () => {
  const { settings } = resolve({
    env: { QUARTERDECK_STORE: 'postgres://deck:pw@db/deck', QUARTERDECK_POSTGRES_WAIT: '30s' },
  })
  expect(settings.store).toEqual({ url: 'postgres://deck:pw@db/deck', commit: 'on', connections: 10, waitMs: 30_000 })
})

test('a password in a flag is refused, and a wrong URL is not repeated', () => {
  expect(() => resolve({ flags: { store: 'postgres://deck:pw@db/deck' } })).toThrow(/QUARTERDECK_STORE/)
  expect(resolve({ flags: { store: 'postgres://deck@db/deck' } }).settings.store).toMatchObject({
    url: 'postgres://deck@db/deck',
  })
  expect(() => resolve({ env: { QUARTERDECK_STORE: 'postgre://deck:hush@db/deck' } })).not.toThrow(/hush/)
})
