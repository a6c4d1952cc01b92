// quarterdeck.yaml: its schema, which is built from the table of settings, and its values.

import { join } from 'node:path'
import { z } from 'zod'
import { ConfigError, type ConfigIssue, issueWithoutLine } from '../config-error.ts'
import { type ConfigFiles, diskFiles, readText } from '../source/config-files.ts'
import type { Environment } from '../source/env-file.ts'
import { valueAt } from '../source/json-schema-node.ts'
import { WrittenText } from '../source/substitute.ts'
import { readYamlConfig } from '../source/yaml-config.ts'
import { type SettingKey, settingKeys, settings } from './settings.ts'

export interface SettingsFile {
  path: string
  text: string
}

/** Reads the settings file. Throws a `ConfigError` if it cannot be read. */
export function readSettingsFile(path: string, files: ConfigFiles = diskFiles): SettingsFile {
  const { text, problem } = readText(files, path)
  if (text === null) throw new ConfigError([issueWithoutLine(`${problem}. Check the path.`, { file: path })])
  return { path, text }
}

/** The settings file of a folder, `quarterdeck.yaml` or `quarterdeck.yml`; null if there is none. */
export function findSettingsFile(folder: string, files: ConfigFiles = diskFiles): SettingsFile | null {
  const entry = files.list(folder)?.find(({ name, isFolder }) => /^quarterdeck\.ya?ml$/.test(name) && !isFolder)
  return entry === undefined ? null : readSettingsFile(join(folder, entry.name), files)
}

/** The setting `limits.active_runs` is the key `active_runs` under `limits`. */
export function settingsYaml(): z.ZodType {
  const shape: Record<string, z.ZodType> = {}
  for (const key of settingKeys) {
    const [section, name] = splitKey(key)
    if (section === null) shape[name] = settings[key].schema.optional()
    else shape[section] ??= sectionSchema(section)
  }
  return z.strictObject(shape)
}

function sectionSchema(section: string): z.ZodType {
  const keys = settingKeys.filter((key) => splitKey(key)[0] === section)
  const shape = Object.fromEntries(keys.map((key) => [splitKey(key)[1], settings[key].schema.optional()]))
  const example = Object.fromEntries(keys.slice(0, 1).map((key) => [splitKey(key)[1], settings[key].example]))
  return z.strictObject(shape).optional().meta({ example })
}

export function readYamlSettings({ path, text }: SettingsFile, env: Environment) {
  const secrets = settingKeys.filter((key) => settings[key].secret).map((key) => splitKey(key)[1])
  const config = readYamlConfig({ file: path, text, schema: settingsYaml(), env, starter: null, secrets })
  const { source } = config
  return {
    issues: config.issues,
    /** The value of a setting as the file has it; undefined if the file does not set it. */
    rawValue: (key: SettingKey): unknown => valueAt(config.raw, key.split('.')),
    /** The variables that are written in the value of a setting and have a value themselves. */
    variablesOf: (key: SettingKey): string[] => variablesIn(config.written(key.split('.'))),
    issueAt: (key: SettingKey, message: string): ConfigIssue =>
      source?.issueAt(key.split('.'), 'value', message) ?? issueWithoutLine(message, { file: path, path: key }),
  }
}

function variablesIn(written: unknown): string[] {
  if (written instanceof WrittenText) return written.variables()
  return typeof written === 'object' && written !== null ? Object.values(written).flatMap(variablesIn) : []
}

function splitKey(key: SettingKey): [section: string | null, name: string] {
  const [first, second] = key.split('.')
  return second === undefined ? [null, key] : [first ?? key, second]
}
