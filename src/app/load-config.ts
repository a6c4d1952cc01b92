import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { agentFromEnvironment, unreadVariables } from '../config/agent/agent-from-environment.ts'
import { loadAgents } from '../config/agent/load-agents.ts'
import type { IssueAt } from '../config/agent/read-agent.ts'
import { findConfigDir } from '../config/config-dir.ts'
import { ConfigError, type ConfigIssue, formatIssue } from '../config/config-error.ts'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { CodeSettings, SettingFlags } from '../config/settings/settings.ts'
import { findSettingsFile, readSettingsFile } from '../config/settings/settings-yaml.ts'
import { type ConfigFiles, diskFiles, recordReading } from '../config/source/config-files.ts'
import { readEnvironment } from '../config/source/env-file.ts'
import type { AgentDefaults } from '../config/source/load-context.ts'
import type { AgentDefinition } from '../domain/agent/agent.ts'
import { dataDirWithoutAgent } from './data-dir.ts'
import { exposedFolders } from './exposed-folders.ts'

interface ConfigRequest {
  /** Agent files or folders. None: the agent of this folder, otherwise the one that the environment describes. */
  files: readonly string[]
  flags: SettingFlags
  /** Settings from an embedding program. They win over all others. */
  code?: CodeSettings
  /** The settings file; absent: `quarterdeck.yaml` in this folder or beside the agent. */
  settingsFile?: string | undefined
  /** Reads all files; absent: the disk. */
  source?: ConfigFiles
}

export interface LoadedConfig {
  agents: AgentDefinition[]
  settings: ServerSettings
  /** Absolute. */
  dataDir: string
  /** The folder that keeps the tokens, or null. */
  configDir: string | null
  /** Absolute paths of all files that were asked for, existing or not. */
  files: string[]
  warnings: string[]
  /** For each agent, a way to point at a key of its file. An agent that the environment describes has none. */
  places: ReadonlyMap<string, IssueAt>
}

/** What `loadConfig` needs of the process. */
export interface Place {
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  stderr: { isTTY?: boolean }
  /**
   * Takes variables from this process, but not from `env`, so that tools and their children do not find them. False: programs of this
   * user can still read some of them in /proc; absent: the process belongs to somebody else.
   */
  forget?(names: readonly string[]): boolean
}

/** Loads everything that a server needs. Throws one `ConfigError` with all problems. */
export function loadConfig(request: ConfigRequest, io: Place): LoadedConfig {
  const { files, flags, code = {}, settingsFile } = request
  const { source, paths: filesRead } = recordReading(request.source)
  const paths = agentPaths(files, io)
  const [first] = paths
  const folder = first === undefined ? io.cwd : agentFolder(first)
  const issues: ConfigIssue[] = []
  const warnings: string[] = []
  const places = new Map<string, IssueAt>()
  const collect = <T>(load: () => T): T | null => {
    try {
      return load()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      issues.push(...error.issues)
      return null
    }
  }

  const environment = readEnvironment(folder, io.env, source)
  const { env } = environment
  // Agent files report problems of the `.env` beside them.
  if (paths.length === 0) issues.push(...environment.issues)
  const resolved = collect(() =>
    resolveSettings({
      code,
      flags,
      env,
      file:
        settingsFile === undefined
          ? (findSettingsFile(io.cwd, source) ?? findSettingsFile(folder, source))
          : readSettingsFile(pathFor(settingsFile, io), source),
      onTerminal: io.stderr.isTTY === true,
    }),
  )
  const configDir = collect(() => findConfigDir(io.env, process.platform))
  const options = resolved === null ? {} : { defaults: defaultsFrom(resolved.settings) }
  const agents = collect(() =>
    paths.length === 0
      ? [agentFromEnvironment(env, { directory: io.cwd, ...options })]
      : loadAgents(paths, {
          env: io.env,
          files: source,
          ...options,
          warn: (one) => warnings.push(formatIssue(one)),
          located: (agent, issueAt) => places.set(agent, issueAt),
        }),
  )
  if (issues.length > 0 || resolved === null || agents === null) throw new ConfigError(issues)

  if (paths.length === 0) warnings.push(...unreadVariables(env))
  // Before any code of a tool is loaded.
  if (io.forget?.(resolved.secretVariables) === false) warnings.push(READABLE)
  const usual =
    paths.length === 0 ? dataDirWithoutAgent(io.cwd, configDir) : join(agents[0]?.directory ?? folder, '.quarterdeck')
  const dataDir = resolve(io.cwd, resolved.settings.dataDir ?? usual)
  const envFiles = new Set([folder, io.cwd, ...agents.map((agent) => agent.directory)].map((one) => join(one, '.env')))
  const exposed = exposedFolders(agents, { dataDir, configDir, envFiles: [...envFiles] })
  return {
    agents,
    settings: { ...resolved.settings, dataDir },
    dataDir,
    configDir,
    files: filesRead(),
    warnings: [...resolved.warnings, ...warnings, ...exposed],
    places,
  }
}

const READABLE =
  'The secrets of this server could not be removed from /proc/PID/environ, so other programs of this user can read them there. Keep them in the keychain, or create tokens with quarterdeck tokens.'

/** What applies where an agent file says nothing. */
export const defaultsFrom = ({ context, sessions, tools, tryModels, knowledge }: ServerSettings): AgentDefaults => ({
  ...context,
  ...sessions,
  toolTimeoutMs: tools.timeoutMs,
  tryModels,
  knowledgeFolders: knowledge.folders,
})

/** The named paths, otherwise the agent of this folder if there is one. */
export function agentPaths(files: readonly string[], io: Place): string[] {
  if (files.length > 0) return files.map((file) => pathFor(file, io))
  const own = ['agent.yaml', 'agent.yml'].find((name) => existsSync(join(io.cwd, name)))
  return own === undefined ? [] : [pathFor(own, io)]
}

/** As the person wrote it if possible, because errors repeat it. */
function pathFor(file: string, io: Place): string {
  const absolute = resolve(io.cwd, file)
  return resolve(file) === absolute ? file : absolute
}

const agentFolder = (path: string): string => (diskFiles.list(path) === null ? dirname(path) : path)
