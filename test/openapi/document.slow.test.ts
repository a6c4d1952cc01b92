// The document in the repository is the one that is served. A linter accepts it, and its examples fit its schemas.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { whatToDo } from '../../scripts/version-rule.ts'
import { jsonText, servedApi } from '../../src/cli/generate.ts'
import { readVersion } from '../../src/config/version.ts'
import { readApi } from './api.ts'
import { problemsOf } from './problems-of.ts'

const root = join(import.meta.dirname, '../..')
const file = 'docs/openapi.json'
const checkedIn = () => readFile(join(root, file), 'utf8')

describe('docs/openapi.json', () => {
  test('is the document that a server serves', async () => {
    const version = await readVersion()
    const served = jsonText((await servedApi(version)).document)
    const current = await checkedIn()

    expect(current === served, whatToDo(file, current, served, version)).toBe(true)
  })

  test('has no errors according to an OpenAPI linter', async () => {
    const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js')
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const lint = promisify(execFile)(process.execPath, [redocly, 'lint', file, '--format=json'], { cwd: root, env })
    // It exits with another code, and so rejects, when there is an error.
    const { stdout } = await lint

    expect(JSON.parse(stdout).totals).toMatchObject({ errors: 0 })
  })

  test('says that everything has the time at which it was created', async () => {
    const nullable: string[] = []
    JSON.parse(await checkedIn(), (key: string, value: unknown) => {
      if (key === 'created_at' && JSON.stringify(value).includes('"null"')) nullable.push(JSON.stringify(value))
      return value
    })
    expect(nullable).toEqual([])
  })

  test('has only examples that fit their schemas', async () => {
    const { operations, resolve } = readApi(JSON.parse(await checkedIn()))
    const problems = operations.flatMap(({ id, body, responses }) => [
      ...(body?.examples ?? []).flatMap((example) => problemsOf(example, body?.schema ?? {}, resolve, `${id} body`)),
      ...[...responses].flatMap(([status, { content }]) =>
        Object.entries(content ?? {})
          .filter(([type, { example }]) => type.endsWith('json') && example !== undefined)
          .flatMap(([, { example, schema }]) => problemsOf(example, schema ?? {}, resolve, `${id} ${status}`)),
      ),
    ])

    expect(problems).toEqual([])
  })
})
