// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// The table of all server settings. Flags, environment variables, quarterdeck.yaml, its JSON Schema and the reference page are
// generated from it. `resolve-settings.ts` turns the values into what the server uses.

import { z } from 'zod'
import { doorNames } from '../../doors.ts'
import { count, durationExpectation, oneOrMore } from '../source/schema-key.ts'
import { channelTable } from './channel-settings.ts'
import { identityTable } from './identity-settings.ts'
import { priceTable } from './price-settings.ts'
import { fileSetting, type Setting, type SettingRow, setting, withVariables } from './setting.ts'
import {
  frameOrigins,
  hostAddress,
  hostNames,
  limited,
  logLevel,
  origins,
  path,
  protocolList,
  spanOrNever,
  storeKind,
  timeSpan,
  toggle,
  token,
} from './setting-values.ts'
import { supervisionTable } from './supervision-settings.ts'
import { telemetryTable } from './telemetry-settings.ts'

const table = {
  host: setting({
    schema: hostAddress(),
    description:
      'Address to listen on. The default, and `localhost`, mean 127.0.0.1 plus ::1 where it exists. If other machines can reach the address (0.0.0.0, for example), a token is required.',
    expected: 'an IP address or a host name',
    example: '0.0.0.0',
    default: '127.0.0.1',
    flag: '--host <address>',
    variables: ['AGUI_HOST', 'HOST'],
  }),
  port: setting({
    schema: count(0).max(65_535),
    description: 'Port to listen on; 0 picks any free port.',
    example: 8000,
    default: 8000,
    flag: '--port <number>',
    variables: ['PORT', 'AGUI_PORT'],
  }),
  protocols: setting({
    schema: protocolList(),
    description: `Open doors: ${doorNames.join(', ')}. A closed door answers 404 and says that it is closed.`,
    expected: `all, or a list of ${doorNames.join(', ')}`,
    example: ['ag-ui', 'rest'],
    default: [...doorNames],
    defaultText: 'all',
    flag: '--protocol <names>',
    repeatable: true,
  }),
  'cors.origins': setting({
    schema: origins(),
    description:
      'Web pages that may call the server. `local` = pages on this machine, any port; `*` = every page. `*` must be the only entry, and only works if a token is required.',
    expected: 'a list of origins such as https://app.example.com (without a path), local, or * alone',
    example: ['local', 'https://app.example.com'],
    default: ['local'],
    flag: '--cors-origins <origins>',
    repeatable: true,
  }),
  allowed_hosts: setting({
    schema: hostNames(),
    description:
      'Host names that requests may use, besides those of this machine and `host`. A request with any other Host header is refused (421).',
    expected: 'a list of host names, with or without :port',
    example: ['agent.example.com'],
    default: [],
    flag: '--allowed-hosts <names>',
    repeatable: true,
  }),
  'log.level': setting({
    schema: logLevel(),
    description: 'Lowest level that is logged: debug, info, warn, error or silent. Python’s names work too.',
    expected: 'one of debug, info, warn, error, silent (or DEBUG, INFO, WARNING, ERROR, CRITICAL, NOTSET)',
    example: 'warn',
    default: 'info',
    flag: '--log-level <level>',
    variables: ['LOG_LEVEL'],
  }),
  'log.format': setting({
    schema: z.enum(['auto', 'json', 'text']),
    description: 'json = one JSON object per line; text = easy to read; auto = text on a terminal, json otherwise.',
    example: 'json',
    default: 'auto',
    flag: '--log-format <format>',
  }),
  'log.content': setting({
    schema: z.boolean().transform((value): boolean | null => value),
    description:
      'With `debug`: log messages and answers, with secrets masked. Has no effect if other machines can reach the server.',
    example: false,
    default: null,
    defaultText: 'on with `debug`',
    flag: '--log-content [yes|no]',
  }),
  debug: setting({
    ...toggle(false),
    description: 'Log everything: level debug, with content. If `log.level` is set, that level stays.',
    flag: '--debug',
  }),
  data_dir: setting({
    schema: path(),
    description: 'Folder for the database and the uploaded files.',
    expected: 'a folder',
    example: '/var/lib/quarterdeck',
    default: null,
    defaultText: '`.quarterdeck` next to the agent, or a folder of this user without one',
    path: true,
    flag: '--data-dir <folder>',
    variables: ['DATA_DIR'],
  }),
  store: setting({
    schema: storeKind(),
    description:
      'Where conversations are kept: a SQLite file in `data_dir`, memory (lost when the process ends), or the Postgres database at this URL, which several servers can share.',
    expected: 'sqlite, :memory: or postgres://user@host/database',
    example: 'sqlite',
    default: 'sqlite',
    holdsSecrets: true,
    flag: '--store <kind>',
  }),
  'postgres.commit': setting({
    schema: z.enum(['on', 'remote_apply']),
    description:
      'When something that is acknowledged is safe: `on` when Postgres (and its synchronous standby) has it on disk, `remote_apply` when the standby also shows it.',
    example: 'remote_apply',
    default: 'on',
    flag: '--postgres-commit <when>',
  }),
  'postgres.connections': setting({
    schema: count(3).max(100),
    description:
      'How many connections to Postgres one server opens at most. One writes and one listens; the others read.',
    expected: 'a whole number from 3 to 100',
    example: 20,
    default: 10,
    flag: '--postgres-connections <number>',
  }),
  'postgres.wait': setting({
    ...timeSpan(10, true),
    description:
      'How long a request waits while Postgres is away, as during a restart or a failover. Then it gets a 503 with `Retry-After`.',
    example: '30s',
    defaultText: '10s',
    flag: '--postgres-wait <time>',
  }),
  'auth.token': setting({
    schema: token(),
    description: 'Bearer token for users. If it is set, every client needs a token, even on this machine.',
    expected: 'text without spaces',
    example: '${QUARTERDECK_TOKEN}',
    default: null,
    defaultText: 'none, see `quarterdeck tokens`',
    secret: true,
    variable: 'QUARTERDECK_TOKEN',
  }),
  'auth.operator_token': setting({
    schema: token(),
    description: 'Bearer token for operators, who decide about tool calls. Deciding always needs a token.',
    expected: 'text without spaces',
    example: '${QUARTERDECK_OPERATOR_TOKEN}',
    default: null,
    defaultText: 'created and shown at the first start on a terminal, see `quarterdeck tokens`',
    secret: true,
    variable: 'QUARTERDECK_OPERATOR_TOKEN',
  }),
  'auth.mode': setting({
    schema: z.enum(['auto', 'token', 'none']),
    description:
      'Whether talking to an agent needs a token: token = always; none = never (this machine only); auto = if other machines can reach the server, or if `auth.token`, `oidc` or `proxy_auth` is set.',
    example: 'token',
    default: 'auto',
    flag: '--auth <mode>',
  }),
  insecure: setting({
    ...toggle(false),
    description:
      'Require no token for talking, even if other machines can reach the server: anyone who reaches the port can use your model. Deciding still needs a token.',
    flag: '--insecure',
  }),
  'limits.sessions': setting({
    ...limited(null),
    description: 'Sessions kept at the same time; further ones are refused (429).',
    example: 10_000,
    flag: '--max-sessions <number>',
    variables: ['MAX_THREADS'],
  }),
  'limits.active_runs': setting({
    schema: count(),
    description: 'Runs that are active at the same time; further ones are refused (429).',
    example: 2000,
    default: 2000,
    flag: '--max-active-runs <number>',
  }),
  'limits.disconnect_grace': setting({
    schema: spanOrNever(),
    description:
      'How long a run continues after its last reader disconnects; 0 = stop at once, never = run to the end.',
    expected: `${durationExpectation(true)}, or never`,
    example: '10s',
    default: 10,
    defaultText: '10 s',
    flag: '--disconnect-grace <time>',
  }),
  'limits.body_bytes': setting({
    schema: count(1000),
    description:
      'Largest JSON request in bytes, not counting files inside it; a larger one is refused (413). Routes without files accept at most 1 MB, decisions 64 KB (approvals 12 MB).',
    example: 10_000_000,
    default: 10_000_000,
    flag: '--max-body-bytes <number>',
  }),
  'limits.queue': setting({
    schema: count(0),
    description: 'Messages that may wait while a session is busy; further ones are refused (429).',
    example: 8,
    default: 8,
    flag: '--max-queue <number>',
  }),
  'limits.posts_per_minute': setting({
    ...limited(null),
    description: 'POST requests per minute and user; further ones are refused (429).',
    example: 600,
    defaultText: 'none on this machine, otherwise 600',
    flag: '--posts-per-minute <number>',
  }),
  'limits.streams': setting({
    ...limited(null),
    description: 'Open streams per user; further ones are refused (429).',
    example: 200,
    defaultText: 'none on this machine, otherwise 200',
    flag: '--max-streams <number>',
  }),
  'context.max_messages': setting({
    schema: count(),
    description:
      'How many of the newest messages the model sees, in whole exchanges, unless the agent sets its own number.',
    example: 200,
    default: 200,
    flag: '--max-messages <number>',
    variables: ['MAX_MESSAGES_PER_THREAD'],
  }),
  'tools.timeout_seconds': setting({
    ...timeSpan(30),
    description: 'How long a tool call may take, unless the tool sets its own timeout.',
    example: 30,
    flag: '--tool-timeout <time>',
    variables: ['TOOL_TIMEOUT_SECONDS'],
  }),
  'tools.proxy': setting({
    ...toggle(false),
    description:
      'Use HTTPS_PROXY and HTTP_PROXY for HTTP tools and MCP servers at a URL too. The proxy resolves host names itself.',
    flag: '--tools-proxy',
  }),
  'sessions.ttl': setting({
    ...timeSpan(1800),
    description: 'Idle time after which the log of a session is compacted, unless the agent sets its own.',
    example: '30m',
    flag: '--session-ttl <time>',
  }),
  'sessions.retention_days': setting({
    schema: count(0),
    description: 'Days without activity after which a session is deleted, unless the agent sets its own; 0 = never.',
    example: 30,
    default: 30,
    flag: '--retention-days <days>',
  }),
  'shutdown.drain': setting({
    ...timeSpan(5, true),
    description: 'How long active runs may continue after a signal to stop.',
    example: '5s',
    flag: '--drain <time>',
  }),
  public_docs: setting({
    ...toggle(false),
    description: 'Serve `/openapi.json` without a token, even if one is required elsewhere. The page `/docs` shows it.',
    flag: '--public-docs',
  }),
  console: setting({
    ...toggle(true),
    description:
      'With `false` or `--no-console` there are no pages for people: /console and /talk answer 404, and all other routes stay open.',
    flag: '--no-console',
  }),
  'talk.frame_origins': setting({
    schema: frameOrigins(),
    description:
      'Web pages that may show /talk/ in a frame and hand it the tokens of their users. Nobody else may show it in a frame.',
    expected: 'a list of origins such as https://app.example.com (without a path)',
    example: ['https://app.example.com'],
    default: [],
    flag: '--talk-frame-origins <origins>',
    repeatable: true,
  }),
  'files.urls': setting({
    ...toggle(false),
    description:
      'Fetch files that a message links to by https. Private and link-local addresses are refused, even after a redirect.',
    flag: '--file-urls',
  }),
  'files.unsent_bytes': setting({
    ...limited(1_000_000_000),
    description: 'Bytes of uploaded files that one user may keep unsent; further uploads are refused (429).',
    example: 1_000_000_000,
    flag: '--max-unsent-bytes <number>',
  }),
  'files.unsent_ttl': setting({
    ...timeSpan(86_400),
    description: 'How long an uploaded file is kept if no message uses it; checked once an hour.',
    example: '24h',
    flag: '--unsent-ttl <time>',
  }),
  'knowledge.index': setting({
    ...toggle(true),
    description:
      'Whether this server keeps the indexes of documents up to date by itself. With `false` or `--no-knowledge-index`, only `quarterdeck knowledge index` does.',
    flag: '--no-knowledge-index',
  }),
  'knowledge.folders': fileSetting<readonly string[]>({
    schema: oneOrMore(z.string().refine((value) => value.trim() !== '', { error: '' })).transform(
      (value): readonly string[] => value,
    ),
    description:
      'Folders that agents may read documents from, besides their own. A `source` of a tool of the type `knowledge` outside of them is refused.',
    expected: 'a folder, or a list of folders',
    example: ['/srv/handbook'],
    default: [],
    path: true,
  }),
  'tls.cert': setting({
    schema: path(),
    description: 'Certificate file (PEM). Together with `tls.key` it turns https on.',
    expected: 'a file',
    example: 'cert.pem',
    default: null,
    path: true,
    flag: '--tls-cert <file>',
  }),
  'tls.key': setting({
    schema: path(),
    description: 'Private key file (PEM) for `tls.cert`.',
    expected: 'a file',
    example: 'key.pem',
    default: null,
    path: true,
    flag: '--tls-key <file>',
  }),
  open: setting({
    ...toggle(false),
    description: 'Open the browser when the server is ready.',
    flag: '--open',
  }),
  ...supervisionTable,
  ...channelTable,
  ...priceTable,
  ...identityTable,
  ...telemetryTable,
}

/** The value of each setting, by its key in quarterdeck.yaml. */
export type SettingValues = { [K in keyof typeof table]: (typeof table)[K] extends SettingRow<infer T> ? T : never }
export type SettingKey = keyof SettingValues
export type ReadSetting = <K extends SettingKey>(key: K) => SettingValues[K]

export const settings = Object.fromEntries(
  Object.entries<SettingRow>(table).map(([key, row]) => [key, withVariables(key, row)]),
) as { readonly [K in SettingKey]: Setting<SettingValues[K]> }

export const settingKeys: readonly SettingKey[] = Object.keys(table).filter((key): key is SettingKey => key in table)

/** Values from the command line, by the key of the setting: text, a switch, or the texts of a repeated flag. */
export type SettingFlags = Partial<Record<SettingKey, string | boolean | string[]>>

/** Settings from the code of an embedding program, by key, written as in quarterdeck.yaml. */
export type CodeSettings = Partial<Record<SettingKey, string | number | boolean | object | null>>
