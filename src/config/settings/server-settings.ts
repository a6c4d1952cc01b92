import type { PriceSettings } from '../../domain/agent/prices.ts'
import type { ChannelSettings } from '../../domain/settings/channel-settings.ts'
import type { DayLimitSettings, IdentitySettings } from '../../domain/settings/identity-settings.ts'
import type { StoreSettings } from '../../domain/settings/store-settings.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import type { TelemetrySettings } from '../../domain/settings/telemetry-settings.ts'
import type { Door } from '../../doors.ts'
import type { LogLevel } from './setting-values.ts'

/** The settings in the form that the server uses: complete and checked. A name says its unit. */
export interface ServerSettings {
  host: string
  /** Addresses to listen on. The default, and `localhost`, mean 127.0.0.1 and ::1. */
  hosts: readonly string[]
  /** 0: any free port. */
  port: number
  /** Only this machine can connect. */
  loopback: boolean
  protocols: readonly Door[]
  /** Origins of web pages. `local`: pages on this machine, any port; `*`: all pages (then it is the only entry). */
  cors: { origins: readonly string[] }
  /** Further allowed names in a Host header, `name` or `name:port`. */
  allowedHosts: readonly string[]
  log: {
    level: LogLevel
    format: 'json' | 'text'
    /** Whether messages and answers are logged, with secrets masked. Never true if other machines can connect. */
    content: boolean
  }
  debug: boolean
  /** Null: `.quarterdeck` next to the agent. Without an agent file: a folder of this user. */
  dataDir: string | null
  store: StoreSettings
  auth: {
    /** Null: not set. Tokens from `quarterdeck tokens` are valid in any case. */
    token: string | null
    operatorToken: string | null
    /** Whether talking to an agent needs a token. Deciding always needs one. */
    required: boolean
    /** No token is required although other machines can connect. */
    insecure: boolean
  }
  limits: {
    /** Null: no limit, here and below. */
    sessions: number | null
    activeRuns: number
    /** Null: a run never stops because its readers disconnected. */
    disconnectGraceMs: number | null
    bodyBytes: number
    queue: number
    postsPerMinute: number | null
    streams: number | null
    /** What a user may use in a day. */
    perDay: DayLimitSettings
  }
  /** For agents that do not set it. */
  context: { maxMessages: number }
  tools: {
    /** For tools that do not set it. */
    timeoutMs: number
    /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, if tools use them; null: tools use no proxy. */
    proxy: Readonly<Record<string, string>> | null
  }
  /** For agents that do not set them. */
  sessions: { ttlSeconds: number; retentionDays: number }
  shutdown: { drainMs: number }
  publicDocs: boolean
  /** Whether the pages for people are served: the console, and the page for users. */
  console: boolean
  /** `frameOrigins`: of the web pages that may show the page for users in a frame. */
  talk: { frameOrigins: readonly string[] }
  files: {
    /** Whether files that a message links to are fetched. */
    urls: boolean
    /** Per user; null: no limit. */
    unsentBytes: number | null
    unsentTtlSeconds: number
  }
  /** `index`: this server keeps the indexes of documents up to date. `folders`: absolute, outside of agents' own. */
  knowledge: { index: boolean; folders: readonly string[] }
  /** Paths of PEM files. */
  tls: { cert: string; key: string } | null
  open: boolean
  supervision: SupervisionSettings
  channels: ChannelSettings
  prices: PriceSettings
  /** `provider/model` of the models that operators may try. */
  tryModels: readonly string[]
  /** Who people are where somebody else says it. */
  identity: IdentitySettings
  /** Null: nothing is sent. */
  telemetry: TelemetrySettings | null
}
