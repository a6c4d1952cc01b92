import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { storePlace } from './store-place.ts'
import { createTestIo } from './testing/test-io.ts'

function open(files: Record<string, string>, env: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'quarterdeck-place-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  return { ...createTestIo(), cwd, env }
}

const yaml = { 'quarterdeck.yaml': 'store: postgres://deck@yaml/deck\n' }

test('a command works on the store that a server in this folder would use', async () => {
  expect(await storePlace({}, open(yaml))).toEqual({ url: 'postgres://deck@yaml/deck' })
  const env = { QUARTERDECK_STORE: 'postgres://deck@env/deck' }
  expect(await storePlace({}, open(yaml, env))).toEqual({ url: 'postgres://deck@env/deck' })
  expect(await storePlace({}, open({ '.env': 'QUARTERDECK_STORE=postgres://deck@file/deck\n' }))).toEqual({
    url: 'postgres://deck@file/deck',
  })
})

test('a flag counts more than all of them', async () => {
  const io = open(yaml)
  expect(await storePlace({ store: 'postgres://deck@flag/deck' }, io)).toEqual({ url: 'postgres://deck@flag/deck' })
  expect(await storePlace({ store: 'sqlite' }, io)).toEqual({ dataDir: join(io.cwd, '.quarterdeck') })
  expect(await storePlace({ dataDir: 'here' }, io)).toEqual({ dataDir: join(io.cwd, 'here') })
})
