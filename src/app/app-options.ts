import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { AgentDefinition } from '../domain/agent/agent.ts'
import { type Clock, createSystemClock } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import { type ProgramWords, plainProgram } from '../domain/settings/program-words.ts'
import type { Middleware } from '../engine/middleware/middleware.ts'
import type { LogTap } from '../http/logging/log-tap.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { Terminal } from '../operators/channel-parts.ts'
import type { CredentialSources } from '../operators/credentials/credentials.ts'
import { createKeychain } from '../operators/credentials/keychain.ts'
import type { McpExtension } from '../protocols/mcp/server-factory.ts'
import { createStrayErrors, type StrayErrors } from '../tools/function/stray-errors.ts'
import type { Tool } from '../tools/tool.ts'

export interface AppOptions {
  agents: readonly AgentDefinition[]
  settings: ServerSettings
  /** Absolute paths of all files that agents and settings were made of, or would be if they existed. */
  configFiles: readonly string[]
  /** Where the log, the files and the lock live. */
  dataDir: string
  /** Where tokens are kept, as hashes. Null: nowhere, and `OpenApp.tokens.operatorToken` lives in memory alone. */
  configDir: string | null
  /** Make the operator's token when none are kept yet, because somebody is there to see it once. */
  makeTokens: boolean
  version: string
  log: Logger
  /** Takes the lines of `log` to where the telemetry settings say. Null: they go nowhere else. */
  logTap: LogTap | null
  /** Ends the process when the disk cannot sync: nothing can be promised then. */
  exit: (code: number) => never
  clock: Clock
  /** Finds the tool call that an uncaught error belongs to. */
  strays: StrayErrors
  /** Tools given in code, by agent, beside those of the agent files. */
  tools: Readonly<Record<string, readonly Tool[]>>
  middleware: readonly Middleware[]
  /** In front of every path, like `/agent`. */
  basePath: string
  /** Added to the MCP door beside our own tools. Only tests give one. */
  mcpExtension: McpExtension | null
  /** The terminal that the server runs in, for the bell. Null: it runs in none. */
  terminal: Terminal | null
  /** How people type this program where the server runs. */
  program: ProgramWords
  /** Where the secrets of channels to operators come from. */
  credentials: CredentialSources
  /** Opens the local socket of `quarterdeck ctl`; `env` says where. Needs `configDir`. Null: there is none. */
  localSocket: { env: Readonly<Record<string, string | undefined>> } | null
  /** Counts the starts in one process: function modules are loaded anew for each number. Null: they are loaded once. */
  reload: number | null
  /** Indexes of documents that another app keeps. Null: the app has its own. */
  knowledge: Knowledge | null
}

type Said = Pick<AppOptions, 'agents' | 'settings' | 'dataDir' | 'version' | 'log' | 'exit'>

/** What a server has where nobody says otherwise. */
export function appDefaults(clock: Clock = createSystemClock()): Omit<AppOptions, keyof Said> {
  return {
    configFiles: [],
    configDir: null,
    makeTokens: false,
    logTap: null,
    clock,
    strays: createStrayErrors(),
    tools: {},
    middleware: [],
    basePath: '',
    mcpExtension: null,
    terminal: null,
    program: plainProgram,
    credentials: { keychain: createKeychain(clock), env: process.env },
    localSocket: null,
    reload: null,
    knowledge: null,
  }
}
