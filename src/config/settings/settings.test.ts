import { describe, expect, test } from 'vitest'
import { validationSchema } from '../source/schema-key.ts'
import { channelTable } from './channel-settings.ts'
import { identityTable } from './identity-settings.ts'
import { priceTable } from './price-settings.ts'
import { flagName } from './setting.ts'
import { settingKeys, settings } from './settings.ts'
import { supervisionTable } from './supervision-settings.ts'
import { telemetryTable } from './telemetry-settings.ts'

const duplicates = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index)

const onlyInFile = [
  'knowledge.folders',
  'workspaces',
  'operators',
  'authorized_user_ids',
  'host_cli',
  'host_cli_args',
  'commands',
  ...Object.keys(channelTable),
  ...Object.keys(priceTable),
  ...Object.keys(identityTable),
  'telemetry.content',
  'telemetry.content_chars',
]

describe('the table of settings', () => {
  test('names each flag and each variable once', () => {
    const flags = settingKeys.flatMap((key) => settings[key].flag ?? []).map(flagName)
    expect([duplicates(flags), duplicates(settingKeys.flatMap((key) => settings[key].env))]).toEqual([[], []])
  })

  test('gives every setting a variable named after its key', () => {
    const keys = settingKeys.filter((key) => !onlyInFile.includes(key))
    const own = Object.fromEntries(keys.map((key) => [key, settings[key].env[0]]))
    const derived = keys.map((key) => [key, `QUARTERDECK_${key.toUpperCase().replace('.', '_')}`])
    expect(own).toEqual({
      ...Object.fromEntries(derived),
      'auth.token': 'QUARTERDECK_TOKEN',
      'auth.operator_token': 'QUARTERDECK_OPERATOR_TOKEN',
    })
  })

  test('keeps who decides and what runs in the file', () => {
    expect(settingKeys.filter((key) => settings[key].env.length === 0)).toEqual(onlyInFile)
  })

  test('gives every setting a flag, except the secrets, the prices, the telemetry, the folders of documents and those about people and agents elsewhere', () => {
    expect(settingKeys.filter((key) => settings[key].flag === null)).toEqual(
      settingKeys.filter(
        (key) =>
          settings[key].secret ||
          key === 'knowledge.folders' ||
          [supervisionTable, channelTable, priceTable, identityTable, telemetryTable].some((table) =>
            Object.hasOwn(table, key),
          ),
      ),
    )
  })

  test('writes flags as commander reads them', () => {
    const flags = settingKeys.flatMap((key) => settings[key].flag ?? [])
    expect(flags.filter((flag) => !/^--[a-z]+(-[a-z]+)*( <[a-z]+>| \[[a-z|]+\])?$/.test(flag))).toEqual([])
  })

  test('has valid examples', () => {
    const wrong = settingKeys.filter((key) => {
      const { schema, example } = settings[key]
      return !schema.safeParse(example).success
    })
    expect(wrong).toEqual([])
  })

  test('has the variable names that the contracts promise', () => {
    const contract = settingKeys
      .filter((key) => settings[key].env.length > 1)
      .map((key) => [key, settings[key].env.slice(1)])
    expect(Object.fromEntries(contract)).toEqual({
      host: ['AGUI_HOST', 'HOST'],
      port: ['PORT', 'AGUI_PORT'],
      'log.level': ['LOG_LEVEL'],
      data_dir: ['DATA_DIR'],
      'limits.sessions': ['MAX_THREADS'],
      'context.max_messages': ['MAX_MESSAGES_PER_THREAD'],
      'tools.timeout_seconds': ['TOOL_TIMEOUT_SECONDS'],
      'telemetry.endpoint': ['OTEL_EXPORTER_OTLP_ENDPOINT'],
      'telemetry.traces_endpoint': ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
      'telemetry.metrics_endpoint': ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'],
      'telemetry.logs_endpoint': ['OTEL_EXPORTER_OTLP_LOGS_ENDPOINT'],
      'telemetry.headers': ['OTEL_EXPORTER_OTLP_HEADERS'],
      'telemetry.service_name': ['OTEL_SERVICE_NAME'],
      'telemetry.resource_attributes': ['OTEL_RESOURCE_ATTRIBUTES'],
      'telemetry.sampler': ['OTEL_TRACES_SAMPLER'],
      'telemetry.sampler_arg': ['OTEL_TRACES_SAMPLER_ARG'],
      'telemetry.disabled': ['OTEL_SDK_DISABLED'],
    })
  })

  test('explains every setting', () => {
    const silent = settingKeys.filter(
      (key) =>
        !validationSchema(settings[key].schema).description?.endsWith('.') && !settings[key].description.endsWith(')'),
    )
    expect(silent).toEqual([])
  })
})
