// Where a setting was set, what was written there, and how to report a mistake in it.

import { dirname, resolve } from 'node:path'
import { isRecord } from '../../domain/is-record.ts'
import { type ConfigIssue, issueWithoutLine } from '../config-error.ts'
import { type Environment, variable } from '../source/env-file.ts'
import { explainIssues } from '../source/explain-issues.ts'
import { readTextAs } from '../source/json-schema-node.ts'
import { validationSchema } from '../source/schema-key.ts'
import { flagName, type Setting } from './setting.ts'
import { type CodeSettings, type SettingFlags, type SettingKey, settings } from './settings.ts'
import { readYamlSettings, type SettingsFile } from './settings-yaml.ts'

export interface SettingSources {
  /** Settings from the code of an embedding program. */
  code?: CodeSettings
  flags: SettingFlags
  env: Environment
  file: SettingsFile | null
}

/** The source that wins for a setting: code, then flag, then variable, then file. */
export interface SettingSource {
  /** `--port`, `PORT`, or the file's path. */
  name: string
  raw: unknown
  /** Whether `raw` is already a value, as in the file or in code. On the command line and in the environment it is text. */
  inFile: boolean
  issue(message: string): ConfigIssue
}

export function createSourceFinder({ code = {}, flags, env, file }: SettingSources) {
  const inFile = file === null ? null : readYamlSettings(file, env)
  const outside = (name: string, raw: unknown): SettingSource => ({
    name,
    raw,
    inFile: false,
    issue: (message) => issueWithoutLine(message, { path: name }),
  })
  return {
    /** All mistakes in the file. */
    fileIssues: inFile?.issues ?? [],
    /** The variables that the file names in this setting. */
    variablesOf: (key: SettingKey): string[] => inFile?.variablesOf(key) ?? [],
    /** Null if nobody set the setting. */
    find(key: SettingKey): SettingSource | null {
      const { flag, env: names, path } = settings[key]
      if (code[key] !== undefined) return { ...outside(`settings: ${key}`, code[key]), inFile: true }
      const given = flags[key]
      if (flag !== null && given !== undefined) return outside(flagName(flag), given)
      for (const name of names) {
        const text = variable(env, name)
        if (text !== undefined) return outside(name, text)
      }
      const raw = inFile?.rawValue(key)
      if (file === null || inFile === null || raw === undefined) return null
      const located = path ? locate(raw, dirname(file.path)) : raw
      return { name: file.path, raw: located, inFile: true, issue: (message) => inFile.issueAt(key, message) }
    },
  }
}

function locate(raw: unknown, folder: string): unknown {
  if (typeof raw === 'string') return resolve(folder, raw)
  if (Array.isArray(raw)) return raw.map((entry: unknown) => locateEntry(entry, folder))
  return raw
}

function locateEntry(entry: unknown, folder: string): unknown {
  if (typeof entry === 'string') return resolve(folder, entry)
  return isRecord(entry) && typeof entry.path === 'string' ? { ...entry, path: resolve(folder, entry.path) } : entry
}

/** The value of a setting from a source, or the mistakes in it. */
export function readSetting<T>(
  setting: Setting<T>,
  source: SettingSource,
): { ok: true; value: T } | { ok: false; issues: ConfigIssue[] } {
  const schema = validationSchema(setting.schema)
  const text = Array.isArray(source.raw) && !source.inFile ? source.raw.join(',') : source.raw
  const value = typeof text === 'string' && !source.inFile ? readTextAs(schema, text) : text
  const parsed = setting.schema.safeParse(value)
  if (parsed.success) return { ok: true, value: parsed.data }
  const example = setting.secret ? '$(openssl rand -hex 32)' : [setting.example].flat().join(',')
  const explained = explainIssues(parsed.error.issues, {
    schema,
    value,
    write: () => (source.name.startsWith('--') ? `${source.name} ${example}` : `${source.name}=${example}`),
    // A URL may hold a password, also one that is written wrongly.
    hidden: () => setting.secret || (typeof value === 'string' && value.includes('@')),
  })
  return { ok: false, issues: explained.map(({ message }) => source.issue(message)) }
}
