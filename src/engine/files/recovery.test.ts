import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FileRecord } from '../../domain/session/file.ts'
import { FILES_NOTICE } from '../../domain/session/file-frame.ts'
import type { ModelRequest } from '../../models/model.ts'
import type { Files } from '../files-port.ts'
import type { AcceptedRun } from '../ports/runs.ts'
import { openEngine, outline, type TestEngineOptions, userInput } from '../testing/open-engine.ts'
import { partOf, results, text, users } from '../testing/open-with-files.ts'

describe('after a crash', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** A server whose files are read as `read` says, on what an earlier one left. */
  function openAt(place: string, read: Files['read'], options: TestEngineOptions = {}) {
    const server = openEngine({
      path: join(folder, place, 'test.db'),
      files: { bytes: async () => Buffer.alloc(0), read },
      ...options,
    })
    return server
  }
  const forever = new Promise<never>(() => {})
  const die = () => cpSync(join(folder, 'first'), join(folder, 'second'), { recursive: true })

  async function attach(server: ReturnType<typeof openEngine>): Promise<AcceptedRun> {
    const file: FileRecord = {
      id: server.ids.uuid(),
      owner: 'local_user',
      sessionId: null,
      name: 'a.txt',
      mimeType: 'text/plain',
      bytes: 1,
      sha256: 'f'.repeat(64),
      createdAt: 1,
    }
    await server.log.commit({ type: 'add_file', file })
    const messages = [{ id: server.ids.uuid(), role: 'user' as const, content: [partOf(file)] }]
    return server.start('', { files: [file.id], input: { ...userInput('', ''), messages } })
  }

  test('a file that was being read is read again, and the run goes on', async () => {
    let begun = () => {}
    const reading = new Promise<void>((resolve) => {
      begun = resolve
    })
    const before = openAt('first', () => {
      begun()
      return forever
    })
    const accepted = await attach(before)
    await reading
    die()
    const requests: ModelRequest[] = []
    const onRequest = (request: ModelRequest) => void requests.push(request)
    const after = openAt('second', async () => text('Alpha.'), { onRequest })
    await after.engine.recover()
    expect(outline(await after.events(accepted)).at(-1)).toBe('RUN_FINISHED success')
    expect(users(requests[0])[0]?.content).toContain('[file: a.txt]\nAlpha.')
    await after.close()
  })

  test('a call of read_file is made again', async () => {
    let begun = () => {}
    const reading = new Promise<void>((resolve) => {
      begun = resolve
    })
    let isStuck = false
    const agent = { context: { maxMessages: 1, mode: 'window' as const } }
    const call = { parts: [{ tool_call: { name: 'read_file', arguments: { file: 'a.txt' } } }] }
    const before = openAt(
      'first',
      async () => {
        if (!isStuck) return text('Alpha.')
        begun()
        return forever
      },
      { agent, answers: [{ parts: [{ text: 'Yes.' }] }, { parts: [{ text: 'Yes.' }] }, call] },
    )
    const first = await attach(before)
    await before.events(first)
    const on = { session: { existing: first.session } }
    await before.events(await before.start('Two.', on))
    isStuck = true
    const accepted = await before.start('Three.', on)
    await reading
    die()
    const after = openAt('second', async () => text('Alpha.'), { agent })
    await after.engine.recover()
    const events = await after.events(accepted)
    expect(results(events)).toEqual([`${FILES_NOTICE}\n[file: a.txt]\n[characters 0 to 6 of 6]\nAlpha.`])
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')
    await after.close()
  })
})
