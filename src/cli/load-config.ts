import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { agentFromEnvironment } from '../config/agent-from-environment.ts'
import { ConfigError, type ConfigIssue } from '../config/config-error.ts'
import { diskFiles } from '../config/config-files.ts'
import { readEnvironment } from '../config/env-file.ts'
import { loadAgents } from '../config/load-agents.ts'
import { resolveSettings } from '../config/resolve-settings.ts'
import type { ServerSettings } from '../config/server-settings.ts'
import type { SettingFlags } from '../config/settings.ts'
import { findSettingsFile, readSettingsFile } from '../config/settings-file.ts'
import type { AgentDefinition } from '../domain/agent.ts'
import type { Io } from './io.ts'

export interface ConfigRequest {
  /** Agent files or folders; none means the agent of this folder, or else the one the environment describes. */
  files: readonly string[]
  flags: SettingFlags
  /** The settings file; undefined looks for `quarterdeck.yaml` here and beside the agent. */
  settingsFile?: string
}

export interface LoadedConfig {
  agents: AgentDefinition[]
  settings: ServerSettings
  /** Absolute. */
  dataDir: string
  warnings: string[]
}

/** Everything a server needs, or a `ConfigError` with everything that is wrong in all of it. */
export function loadConfig({ files, flags, settingsFile }: ConfigRequest, io: Io): LoadedConfig {
  const paths = agentPaths(files, io)
  const [first] = paths
  const folder = first === undefined ? io.cwd : agentFolder(first)
  const issues: ConfigIssue[] = []
  const collect = <T>(load: () => T): T | null => {
    try {
      return load()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      issues.push(...error.issues)
      return null
    }
  }

  const surroundings = readEnvironment(folder, io.env, diskFiles)
  const env = surroundings.env
  // Agent files bring what is wrong with the `.env` beside them.
  if (paths.length === 0) issues.push(...surroundings.issues)
  const resolved = collect(() =>
    resolveSettings({
      flags,
      env,
      file:
        settingsFile === undefined
          ? (findSettingsFile(io.cwd) ?? findSettingsFile(folder))
          : readSettingsFile(pathFor(settingsFile, io)),
      onTerminal: io.stderr.isTTY === true,
    }),
  )
  const options = resolved === null ? {} : { defaults: { ...resolved.settings.context, ...resolved.settings.sessions } }
  const agents = collect(() =>
    paths.length === 0
      ? [agentFromEnvironment(env, { directory: io.cwd, ...options })]
      : loadAgents(paths, { env: io.env, ...options }),
  )
  if (issues.length > 0 || resolved === null || agents === null) throw new ConfigError(issues)

  const dataDir = resolve(io.cwd, resolved.settings.dataDir ?? join(agents[0]?.directory ?? folder, '.quarterdeck'))
  return { agents, settings: { ...resolved.settings, dataDir }, dataDir, warnings: resolved.warnings }
}

/** The paths that were named, or the agent of this folder if it has one. */
export function agentPaths(files: readonly string[], io: Io): string[] {
  if (files.length > 0) return files.map((file) => pathFor(file, io))
  const own = ['agent.yaml', 'agent.yml'].find((name) => existsSync(join(io.cwd, name)))
  return own === undefined ? [] : [pathFor(own, io)]
}

/** As the person wrote it where that means the same, because errors repeat it. */
function pathFor(file: string, io: Io): string {
  const absolute = resolve(io.cwd, file)
  return resolve(file) === absolute ? file : absolute
}

const agentFolder = (path: string): string => (diskFiles.list(path) === null ? dirname(path) : path)
