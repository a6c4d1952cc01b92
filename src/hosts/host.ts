// A host is a coding agent's program: Claude Code, Codex, … One file of this folder says everything that Quarterdeck knows about it, and
// `hosts.ts` lists them. A host only describes: it reads no file and starts nothing.

import type { ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { Environment } from '../config/source/env-file.ts'

export interface Host {
  /** As people call it. */
  title: string
  /** The command that installs it. */
  install: string
  /** The config files of this user that `connect` changes. */
  configFiles(at: HostPlaces): ConfigFile[]
  /** Settings that switch off all hooks of the host. */
  offSwitches(at: HostPlaces & { workspace: string }): OffSwitch[]
  /** What the person has to do or to know once it is connected. */
  notes: readonly string[]
  hook: HookWords
  call: CallLimit
  /** What in a workspace the host reads its settings, hooks or instructions from. Names in lower case. */
  reads: { folder: string; files: RegExp }
  /** The host's own tools, as its hooks and its model call them. A tool that is not here may do anything. */
  tools: HostTools
  acp: AcpWords
}

/** How the host is started as an agent of ours, over the Agent Client Protocol. docs/do/host-a-coding-agent.md says which versions were tried. */
export interface AcpWords {
  command: string
  args: readonly string[]
  /** The command that installs it. */
  install: string
  /** Variables with what it needs to reach its model. They are passed on where they are set. */
  credentials: readonly string[]
  /** For `authenticate`, where it answers "Authentication required" although one of `credentials` is set. Null: that would not help. */
  authMethod: string | null
  /** Always set, next to HOME, in which it keeps its settings and its sessions. */
  env: Readonly<Record<string, string>>
  /** The mode in which it asks before it acts. To be set after every new, resumed or loaded session. Empty: nobody knows of one. */
  askingMode: string
  /** With these it acts and does not ask: ids of modes, values of config options by id. */
  bold: { modes: readonly string[]; options: Readonly<Record<string, string>> }
  /**
   * Slash commands that a prompt may begin with; null: all. A command may switch the questions off, and not every command is listed. So a
   * text that begins with another one is sent behind a word of ours, in the same block: then it is only text.
   */
  commands: readonly string[] | null
  /** Whether it writes files of the workspace by `fs/write_text_file`, where the client offers that and no `fs/read_text_file`. */
  writesThroughClient: boolean
  /** The call as `tools` knows it. Null: nobody knows what it would do. */
  toolOf(call: AcpCall): { tool: string; input: Words } | null
}

/** All that was told of one tool call, merged by its id, with the keys of every `rawInput`. The title is missing: it may be the model's own words. */
export type AcpCall = Pick<
  ToolCallUpdate,
  'toolCallId' | 'name' | 'kind' | 'rawInput' | 'content' | 'locations' | '_meta'
>

/** The change that an ACP call shows, if it is one. Some hosts show a whole file, others one place in it. */
export function onlyDiff({
  content,
  locations,
}: AcpCall): { path: string; kind: unknown; old: string; next: string } | null {
  const [diff, ...others] = content ?? []
  if (diff?.type !== 'diff' || others.length > 0) return null
  // A file that is moved is located in its old place.
  if (locations?.some(({ path }) => path !== diff.path)) return null
  return { path: diff.path, kind: diff._meta?.kind, old: diff.oldText ?? '', next: diff.newText }
}

export const words = (value: unknown): Words =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

/**
 * What a tool of a host does with its arguments. `host`: it only changes what the host itself shows or plans. `reaches`: it leaves this
 * machine. `unknown`: it may do anything.
 */
export type ToolEffect = 'host' | 'reads' | 'searches' | 'writes' | 'runs' | 'reaches' | 'unknown'

export type HostTools = Readonly<Record<string, ToolEffect | HostTool>>

export interface HostTool {
  effect: ToolEffect
  /** Arguments with which nobody knows what it does. */
  unless?: readonly string[]
  /** For a tool that changes the one file that it names, and no other. */
  writes?: WriteShape
}

/** The names of arguments. */
export interface WriteShape {
  path: string
  /** The whole text, or a text and the one that replaces it. Without them a call cannot be shown as a diff. */
  whole?: string
  old?: string
  next?: string
  /** True: every place is replaced. */
  all?: string
  /** With these it does something else, so that we cannot say what. */
  not?: readonly string[]
}

export const toolsThat = (effect: ToolEffect, ...names: string[]): HostTools =>
  Object.fromEntries(names.map((name) => [name, effect]))

/** The commands of another shell mean other things, so nobody looks into them. */
export const otherShell: HostTool = { effect: 'runs', unless: ['command'] }

export const writer = (writes: WriteShape): HostTool => ({ effect: 'writes', writes })

export interface HostPlaces {
  home: string
  env: Environment
}

export type ConfigFile = JsonConfigFile | TomlConfigFile

interface JsonConfigFile {
  path: string
  format: 'json'
  /** Our MCP server, if the file lists it. */
  server: ServerPlace | null
  /** Our hooks by event, if the file lists them. */
  hooks: ((setup: HostSetup) => Words) | null
}

interface TomlConfigFile {
  path: string
  format: 'toml'
  /** A table in a table. */
  server: ServerPlace
  hooks: null
}

interface ServerPlace {
  /** The keys that lead to the entry. A host that has no servers of a folder lists one for all. */
  keys(workspace: string | null): readonly string[]
  entry(setup: HostSetup): Words
  isOfFolder: boolean
}

/** What is written into the host's config. */
export interface HostSetup {
  /** Real path. Null: agents in all folders. */
  workspace: string | null
  server: StdioServer | HttpServer
  /** A shell command that runs `quarterdeck hook` for an event. `isQuestion`: the host waits for a yes or no. */
  hook(event: string, isQuestion: boolean): string
}

interface StdioServer {
  type: 'stdio'
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
}

interface HttpServer {
  type: 'http'
  url: string
  /** Of the agent. */
  token: string
}

export interface OffSwitch {
  /** A JSON file. It may be missing. */
  path: string
  key: readonly string[]
  /** The value that switches the hooks off. */
  off: boolean
}

export type Words = Readonly<Record<string, unknown>>

/** What the host's hooks say and want to hear. `event` is the host's own name of it. docs/do/connect-a-coding-agent.md says which versions were tried. */
interface HookWords {
  /** Events before which the host waits for a yes or no. */
  asks: readonly string[]
  /** The agent has finished its turn. A host that reads a refusal here makes the agent go on. */
  turnEnds: string
  /** Names the project that the host was started for. The agent can change its current folder, but not this. */
  projectVariable: string | null
  /** Whether the host runs `updated` instead of what was `given`, and nothing else. */
  canChange(event: string, given: Words, updated: Words): boolean
  /** `updated`: with these arguments instead. `note` tells the model about them. */
  allow(event: string, changed: { updated: Words; note: string } | null): Words
  /** An `allow` counts more than what the host's user denies in its own rules. So only a person or a policy says it. */
  overrules?: true
  deny(event: string, reason: string): Words
  /** At the end of a turn: the agent goes on, with this text. */
  goOn(text: string): Words
  /** The exit code of a refusal that is also printed as JSON. Without JSON it is always 2. */
  denialExitCode: 0 | 2
}

/** How long the host lets a tool call block before it gives up. */
export interface CallLimit {
  /** The name with which the host's MCP client introduces itself. */
  client: RegExp
  /** Of a call without progress. */
  seconds: number
  /** The limit starts anew with every progress notification, so only the host's hard limit counts, if it asked for progress. */
  isExtended: boolean
}

/** The name of our MCP server in the host's config. */
export const SERVER_NAME = 'quarterdeck'
/** A person has an hour to decide: `timeouts.approval_seconds`. The hook answers by then, and the host waits a minute longer. */
export const HOOK_LIMIT_SECONDS = 3_600
export const HOST_LIMIT_SECONDS = HOOK_LIMIT_SECONDS + 60
/** For hooks that only tell something. */
export const NOTICE_LIMIT_SECONDS = 10

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

// The words of Claude Code's hooks. Other hosts speak them too, with differences that their own files name.

const specific = (event: string, output: Words): Words => ({ hookSpecificOutput: { hookEventName: event, ...output } })

export const usualWords: Omit<HookWords, 'canChange'> = {
  asks: ['PreToolUse', 'PermissionRequest'],
  turnEnds: 'Stop',
  projectVariable: null,
  allow(event, changed) {
    const input = changed === null ? {} : { updatedInput: changed.updated }
    if (event === 'PermissionRequest') return specific(event, { decision: { behavior: 'allow', ...input } })
    const told = changed === null ? {} : { additionalContext: changed.note }
    return specific(event, { permissionDecision: 'allow', ...input, ...told })
  },
  deny(event, reason) {
    if (event === 'PermissionRequest') return specific(event, { decision: { behavior: 'deny', message: reason } })
    return specific(event, { permissionDecision: 'deny', permissionDecisionReason: reason })
  },
  goOn: (text) => ({ decision: 'block', reason: text }),
  denialExitCode: 2,
}

/** A host that merges the new arguments into the old ones would bring a key back that is gone. */
export const keepsKeys = (_event: string, given: Words, updated: Words): boolean =>
  Object.keys(given).every((key) => Object.hasOwn(updated, key))
