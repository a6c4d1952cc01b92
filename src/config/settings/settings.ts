// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The one table of the server's settings. Flags, variables, quarterdeck.yaml, its JSON Schema and the reference page are
// all made from it; `resolve-settings.ts` turns it into what the server uses.

import { z } from 'zod'
import { durationExpectation } from '../source/duration.ts'
import { count } from '../source/schema-key.ts'
import { type Setting, setting } from './setting.ts'
import {
  hostAddress,
  hostNames,
  limit,
  logLevel,
  origins,
  path,
  protocolList,
  protocolNames,
  span,
  spanOrNever,
  token,
} from './setting-values.ts'

const LIMIT = 'a whole number of at least 1, or none'

const table = {
  host: setting({
    schema: hostAddress(),
    description:
      'Address to listen on; by default (and for `localhost`) 127.0.0.1, and ::1 where it exists. Beyond this machine (0.0.0.0 = everywhere) a token is required.',
    expected: 'an IP address or a host name',
    example: '0.0.0.0',
    default: '127.0.0.1',
    flag: '--host <address>',
    env: ['QUARTERDECK_HOST', 'AGUI_HOST', 'HOST'],
  }),
  port: setting({
    schema: count(0).max(65_535),
    description: 'Port to listen on; 0 takes any free one.',
    example: 8000,
    default: 8000,
    flag: '--port <number>',
    env: ['QUARTERDECK_PORT', 'PORT', 'AGUI_PORT'],
  }),
  protocols: setting({
    schema: protocolList(),
    description: `Doors that are open: ${protocolNames.join(', ')}. A closed one answers 404 and says so.`,
    expected: `all, or a list of ${protocolNames.join(', ')}`,
    example: ['ag-ui', 'rest'],
    default: [...protocolNames],
    defaultText: 'all',
    flag: '--protocol <names>',
    repeatable: true,
    env: ['QUARTERDECK_PROTOCOLS'],
  }),
  'cors.origins': setting({
    schema: origins(),
    description:
      'Web pages that may call the server. `local` = pages of this machine, any port; `*` = all, alone, and only when a token is required.',
    expected: 'a list of origins such as https://app.example.com (without a path), local, or * alone',
    example: ['local', 'https://app.example.com'],
    default: ['local'],
    flag: '--cors-origins <origins>',
    repeatable: true,
    env: ['QUARTERDECK_CORS_ORIGINS'],
  }),
  allowed_hosts: setting({
    schema: hostNames(),
    description:
      'Names this server is called by, besides this machine’s and `host`: a request with another Host header is refused (421).',
    expected: 'a list of host names, with or without :port',
    example: ['agent.example.com'],
    default: [],
    defaultText: 'none',
    flag: '--allowed-hosts <names>',
    repeatable: true,
    env: ['QUARTERDECK_ALLOWED_HOSTS'],
  }),
  'log.level': setting({
    schema: logLevel(),
    description: 'The least important lines that are logged: debug, info, warn, error, silent; Python’s names too.',
    expected: 'one of debug, info, warn, error, silent (or DEBUG, INFO, WARNING, ERROR, CRITICAL, NOTSET)',
    example: 'warn',
    default: 'info',
    flag: '--log-level <level>',
    env: ['QUARTERDECK_LOG_LEVEL', 'LOG_LEVEL'],
  }),
  'log.format': setting({
    schema: z.enum(['auto', 'json', 'text']),
    description: 'One JSON object a line, or text for people; auto = text on a terminal, json otherwise.',
    example: 'json',
    default: 'auto',
    flag: '--log-format <format>',
    env: ['QUARTERDECK_LOG_FORMAT'],
  }),
  'log.content': setting({
    schema: z.boolean().transform((value): boolean | null => value),
    description: 'With `debug`: messages and answers in the log, secrets masked. Never beyond this machine.',
    example: false,
    default: null,
    defaultText: 'on with `debug`',
    flag: '--log-content [yes|no]',
    env: ['QUARTERDECK_LOG_CONTENT'],
  }),
  debug: setting({
    schema: z.boolean(),
    description: 'Log everything: level debug, with content. An explicit `log.level` keeps its say.',
    example: true,
    default: false,
    flag: '--debug',
    env: ['QUARTERDECK_DEBUG'],
  }),
  data_dir: setting({
    schema: path(),
    description: 'Folder of the database and the uploads.',
    expected: 'a folder',
    example: '/var/lib/quarterdeck',
    default: null,
    defaultText: '`.quarterdeck` beside the agent',
    path: true,
    flag: '--data-dir <folder>',
    env: ['QUARTERDECK_DATA_DIR', 'DATA_DIR'],
  }),
  store: setting({
    schema: z.enum(['sqlite', ':memory:']),
    description: 'Where conversations are kept: a SQLite file in `data_dir`, or memory (gone with the process).',
    example: 'sqlite',
    default: 'sqlite',
    flag: '--store <kind>',
    env: ['QUARTERDECK_STORE'],
  }),
  'auth.token': setting({
    schema: token(),
    description: 'The users’ bearer token. Set here, it is required everywhere, also on this machine.',
    expected: 'text without spaces',
    example: '${QUARTERDECK_TOKEN}',
    default: null,
    defaultText: 'made and shown at the first start at a terminal, see `quarterdeck tokens`',
    secret: true,
    flag: null,
    env: ['QUARTERDECK_TOKEN'],
  }),
  'auth.operator_token': setting({
    schema: token(),
    description: 'The operators’ bearer token: who has it may decide. Always required for that.',
    expected: 'text without spaces',
    example: '${QUARTERDECK_OPERATOR_TOKEN}',
    default: null,
    defaultText: 'made and shown at the first start at a terminal, see `quarterdeck tokens`',
    secret: true,
    flag: null,
    env: ['QUARTERDECK_OPERATOR_TOKEN'],
  }),
  'auth.mode': setting({
    schema: z.enum(['auto', 'token', 'none']),
    description:
      'Whether talking needs a token: token = always, none = never (this machine only), auto = beyond this machine, or when `auth.token` is set.',
    example: 'token',
    default: 'auto',
    flag: '--auth <mode>',
    env: ['QUARTERDECK_AUTH_MODE'],
  }),
  insecure: setting({
    schema: z.boolean(),
    description:
      'No token for talking, also beyond this machine: everybody who can reach the port uses your model. Deciding still needs the operator’s.',
    example: true,
    default: false,
    flag: '--insecure',
    env: ['QUARTERDECK_INSECURE'],
  }),
  'limits.sessions': setting({
    schema: limit(),
    description: 'Sessions kept at once; more are refused (429).',
    expected: LIMIT,
    example: 10_000,
    default: null,
    defaultText: 'none',
    flag: '--max-sessions <number>',
    env: ['QUARTERDECK_LIMITS_SESSIONS', 'MAX_THREADS'],
  }),
  'limits.active_runs': setting({
    schema: count(),
    description: 'Runs at work at once; more are refused (429).',
    example: 2000,
    default: 2000,
    flag: '--max-active-runs <number>',
    env: ['QUARTERDECK_LIMITS_ACTIVE_RUNS'],
  }),
  'limits.disconnect_grace': setting({
    schema: spanOrNever(),
    description: 'How long a run goes on after its last reader has gone; 0 = stops at once, never = runs to its end.',
    expected: `${durationExpectation(true)}, or never`,
    example: '10s',
    default: 10,
    defaultText: '10 s',
    flag: '--disconnect-grace <time>',
    env: ['QUARTERDECK_LIMITS_DISCONNECT_GRACE'],
  }),
  'limits.body_bytes': setting({
    schema: count(1000),
    description:
      'Bytes of a JSON request, without the files in it; a larger one is refused (413). Routes without files take 1 MB at most, decisions 64 KB.',
    example: 10_000_000,
    default: 10_000_000,
    flag: '--max-body-bytes <number>',
    env: ['QUARTERDECK_LIMITS_BODY_BYTES'],
  }),
  'limits.queue': setting({
    schema: count(0),
    description: 'Messages that wait while a session is busy; more are refused (429).',
    example: 8,
    default: 8,
    flag: '--max-queue <number>',
    env: ['QUARTERDECK_LIMITS_QUEUE'],
  }),
  'limits.posts_per_minute': setting({
    schema: limit(),
    description: 'POST requests a minute and token.',
    expected: LIMIT,
    example: 600,
    default: null,
    defaultText: 'none on this machine, 600 beyond it',
    flag: '--posts-per-minute <number>',
    env: ['QUARTERDECK_LIMITS_POSTS_PER_MINUTE'],
  }),
  'limits.streams': setting({
    schema: limit(),
    description: 'Open streams a token.',
    expected: LIMIT,
    example: 200,
    default: null,
    defaultText: 'none on this machine, 200 beyond it',
    flag: '--max-streams <number>',
    env: ['QUARTERDECK_LIMITS_STREAMS'],
  }),
  'context.max_messages': setting({
    schema: count(),
    description: 'The newest messages a model is shown, in whole exchanges, for agents that do not say.',
    example: 200,
    default: 200,
    flag: '--max-messages <number>',
    env: ['QUARTERDECK_CONTEXT_MAX_MESSAGES', 'MAX_MESSAGES_PER_THREAD'],
  }),
  'tools.timeout_seconds': setting({
    schema: span(false),
    description: 'How long a tool call may take, for tools that do not say.',
    expected: durationExpectation(false),
    example: 30,
    default: 30,
    defaultText: '30 s',
    flag: '--tool-timeout <time>',
    env: ['QUARTERDECK_TOOLS_TIMEOUT_SECONDS', 'TOOL_TIMEOUT_SECONDS'],
  }),
  'tools.proxy': setting({
    schema: z.boolean(),
    description:
      'HTTP tools and MCP servers at a URL are reached through HTTPS_PROXY or HTTP_PROXY too. A name is judged before, but the proxy looks it up again.',
    example: true,
    default: false,
    flag: '--tools-proxy',
    env: ['QUARTERDECK_TOOLS_PROXY'],
  }),
  'sessions.ttl': setting({
    schema: span(false),
    description: 'Idle time after which a session’s live state is freed, for agents that do not say.',
    expected: durationExpectation(false),
    example: '30m',
    default: 1800,
    defaultText: '1800 s',
    flag: '--session-ttl <time>',
    env: ['QUARTERDECK_SESSIONS_TTL'],
  }),
  'sessions.retention_days': setting({
    schema: count(0),
    description: 'Days after the last activity until a session is purged, for agents that do not say; 0 = never.',
    example: 30,
    default: 30,
    flag: '--retention-days <days>',
    env: ['QUARTERDECK_SESSIONS_RETENTION_DAYS'],
  }),
  'shutdown.drain': setting({
    schema: span(true),
    description: 'How long running work may go on after a signal to stop.',
    expected: durationExpectation(true),
    example: '5s',
    default: 5,
    defaultText: '5 s',
    flag: '--drain <time>',
    env: ['QUARTERDECK_SHUTDOWN_DRAIN'],
  }),
  public_docs: setting({
    schema: z.boolean(),
    description: '`/docs` and `/openapi.json` without a token where one is required.',
    example: true,
    default: false,
    flag: '--public-docs',
    env: ['QUARTERDECK_PUBLIC_DOCS'],
  }),
  'files.urls': setting({
    schema: z.boolean(),
    description:
      'Fetch files that a message names by an https address. Private and link-local addresses are refused, also after a redirect.',
    example: true,
    default: false,
    flag: '--file-urls',
    env: ['QUARTERDECK_FILES_URLS'],
  }),
  'files.unsent_bytes': setting({
    schema: limit(),
    description:
      'Bytes of uploaded files that one user may have without having sent them with a message; more are refused (429).',
    expected: LIMIT,
    example: 1_000_000_000,
    default: 1_000_000_000,
    flag: '--max-unsent-bytes <number>',
    env: ['QUARTERDECK_FILES_UNSENT_BYTES'],
  }),
  'files.unsent_ttl': setting({
    schema: span(false),
    description: 'How long an uploaded file is kept that is not sent with a message; looked at once an hour.',
    expected: durationExpectation(false),
    example: '24h',
    default: 86_400,
    defaultText: '86400 s',
    flag: '--unsent-ttl <time>',
    env: ['QUARTERDECK_FILES_UNSENT_TTL'],
  }),
  'tls.cert': setting({
    schema: path(),
    description: 'Certificate file (PEM); with `tls.key` the server speaks https.',
    expected: 'a file',
    example: 'cert.pem',
    default: null,
    defaultText: 'none',
    path: true,
    flag: '--tls-cert <file>',
    env: ['QUARTERDECK_TLS_CERT'],
  }),
  'tls.key': setting({
    schema: path(),
    description: 'Private key file (PEM) of `tls.cert`.',
    expected: 'a file',
    example: 'key.pem',
    default: null,
    defaultText: 'none',
    path: true,
    flag: '--tls-key <file>',
    env: ['QUARTERDECK_TLS_KEY'],
  }),
  open: setting({
    schema: z.boolean(),
    description: 'Open the browser when the server is ready.',
    example: true,
    default: false,
    flag: '--open',
    env: ['QUARTERDECK_OPEN'],
  }),
}

/** The value of each setting, by its key in quarterdeck.yaml. */
export type SettingValues = { [K in keyof typeof table]: (typeof table)[K] extends Setting<infer T> ? T : never }
export type SettingKey = keyof SettingValues

export const settings: { readonly [K in SettingKey]: Setting<SettingValues[K]> } = table

export const settingKeys: readonly SettingKey[] = Object.keys(table).filter((key): key is SettingKey => key in table)

/** What was given on the command line, by the key of the setting: text, a switch, or the texts of a repeated flag. */
export type SettingFlags = Partial<Record<SettingKey, string | boolean | string[]>>

/** What a program gives in code, by the key of the setting; written as in quarterdeck.yaml. */
export type CodeSettings = Partial<Record<SettingKey, string | number | boolean | readonly string[] | null>>

export type { Setting }
