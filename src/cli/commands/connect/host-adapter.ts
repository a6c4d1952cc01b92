// What `connect` knows about a host: its config files, and what belongs in them. Adapters only turn text into text.

import type { Environment } from '../../../config/source/env-file.ts'

/** What is written into the host's config. */
export interface HostSetup {
  /** Real path. Null: agents in all folders. */
  workspace: string | null
  server: StdioServer | HttpServer
  /** A shell command that runs `quarterdeck hook` for an event. `isQuestion`: the host waits for a yes or no. */
  hook(event: string, isQuestion: boolean): string
}

export interface StdioServer {
  type: 'stdio'
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
}

export interface HttpServer {
  type: 'http'
  url: string
  /** Of the agent. */
  token: string
}

export interface ConfigEdit {
  path: string
  /** What the file has of ours, for people. */
  what: string
  /** The new text. `text` is null if there is no file. Throws `CliError` if the file cannot be understood. */
  apply(text: string | null, setup: HostSetup): string
  /** The text without what is ours. `isLast`: no other folder is connected. Null: nothing is left, and the file can go. */
  remove(text: string, target: { workspace: string | null; isLast: boolean }): string | null
}

export interface OffSwitch {
  /** A JSON file. It may be missing. */
  path: string
  key: readonly string[]
  /** The value that switches the hooks off. */
  off: boolean
}

export interface HostAdapter {
  /** As people call it. */
  title: string
  edits(at: { home: string; env: Environment }): ConfigEdit[]
  /** The folders that hooks in the config are for, by the texts of its files. Null: all folders. One hook for the list of folders names none. */
  connected(texts: readonly string[]): (string | null)[]
  /** Settings that switch off all hooks of the host. */
  offSwitches(at: { home: string; env: Environment; workspace: string }): OffSwitch[]
  /** What the person has to do or to know. */
  notes: readonly string[]
}

/** The name of our MCP server in the host's config. */
export const SERVER_NAME = 'quarterdeck'
/** A person has an hour to decide: `timeouts.approval_seconds`. The hook answers by then, and the host waits a minute longer. */
export const HOOK_LIMIT_SECONDS = 3_600
export const HOST_LIMIT_SECONDS = HOOK_LIMIT_SECONDS + 60
/** For hooks that only tell something. */
export const NOTICE_LIMIT_SECONDS = 10
