import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeWorkspace } from '../../../supervision/testing/workspace.ts'
import { asAda, asEve, asLocalUser, asOperator, refusalOf } from '../../testing/open-doors.ts'
import { openSupervisedDoors } from '../../testing/open-supervised-doors.ts'
import {
  ChangesSchema,
  CheckpointSchema,
  CommandResultSchema,
  FileDiffSchema,
  PurgedSchema,
  RestoredSchema,
  ShownCheckpointSchema,
} from './checkpoint-schema.ts'

const json = async (response: Response) => (await response.json()) as Record<string, unknown>

async function openKept() {
  const doors = await openSupervisedDoors()
  const root = makeWorkspace({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
  const session = await doors.open({ workspaceRoot: root })
  const saved = await doors.post(`/sessions/${session.id}/checkpoint`, { label: 'start' }, asOperator)
  expect(saved.status).toBe(201)
  const checkpoint = CheckpointSchema.parse(await saved.json())
  return Object.assign(doors, { root, session, checkpoint, path: `/checkpoints/${checkpoint.checkpoint_id}` })
}

describe('checkpoints', () => {
  test('are listed and shown with the hashes of their files, to those who may see them', async () => {
    await using doors = await openKept()
    const { checkpoint, session, path } = doors
    expect(checkpoint).toMatchObject({ session_id: session.id, label: 'start', files: 2, has_contents: true })

    const shown = ShownCheckpointSchema.parse(await json(await doors.get(path, asLocalUser)))
    expect(Object.keys(shown.file_hashes)).toEqual(['a.txt', 'b.txt'])
    expect((await json(await doors.get(`/checkpoints?session=${session.id}`, asEve))).checkpoints).toEqual([checkpoint])
    expect((await json(await doors.get('/checkpoints', asAda))).checkpoints).toEqual([])
    expect((await doors.get(path, asAda)).status).toBe(404)
    expect((await doors.post(`/sessions/${session.id}/checkpoint`, {}, asEve)).status).toBe(403)
  })

  test('a restore first says what would be lost, and a changed workspace asks again', async () => {
    await using doors = await openKept()
    const { root, path, session } = doors
    writeFileSync(join(root, 'a.txt'), 'changed\n')
    writeFileSync(join(root, 'c.txt'), 'new\n')

    const first = await doors.post(`${path}/restore`, {}, asOperator)
    expect(first.status).toBe(409)
    const plan = await json(first)
    expect(plan).toMatchObject({ code: 'restore_unconfirmed', modified: ['a.txt'], deleted: [], added: ['c.txt'] })
    writeFileSync(join(root, 'c.txt'), 'newer\n')
    const second = await json(await doors.post(`${path}/restore`, { confirm: plan.digest }, asOperator))
    expect(second).toMatchObject({ code: 'restore_unconfirmed', added: ['c.txt'] })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('changed\n')

    const done = await doors.post(`${path}/restore`, { confirm: second.digest }, asOperator)

    const restored = RestoredSchema.parse(await done.json())
    expect(restored).toMatchObject({
      session: { status: 'created', owner_user_id: 'local_user', workspace_root: root },
      written: 1,
      removed: 1,
      not_restored: [],
    })
    expect(restored.session.restored_from).toBe(doors.checkpoint.checkpoint_id)
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
    expect(existsSync(join(root, 'c.txt'))).toBe(false)
    expect((await doors.elsewhere.sessions.get(session.id)).supervision.status).toBe('terminated')
    expect((await doors.get(`/checkpoints/${restored.undo.checkpoint_id}`, asOperator)).status).toBe(200)
  })

  test('say what differs from the workspace now, and in one file', async () => {
    await using doors = await openKept()
    const { root, path, checkpoint } = doors
    writeFileSync(join(root, 'a.txt'), 'one\nhid\u202eden\n')
    writeFileSync(join(root, 'c.txt'), 'new\n')
    unlinkSync(join(root, 'b.txt'))

    const changes = ChangesSchema.parse(await json(await doors.get(`${path}/changes`, asLocalUser)))
    expect(changes).toEqual({
      checkpoint_id: checkpoint.checkpoint_id,
      counts: { modified: 1, deleted: 1, added: 1, unknown: 0 },
      files: [
        { path: 'a.txt', change: 'modified', bytes_then: 4, bytes_now: 14 },
        { path: 'b.txt', change: 'deleted', bytes_then: 4, bytes_now: null },
        { path: 'c.txt', change: 'added', bytes_then: null, bytes_now: 4 },
      ],
      unknown: [],
    })
    const diffOf = async (name: string) =>
      FileDiffSchema.parse(await json(await doors.get(`${path}/diff?path=${name}`, asEve)))
    expect(await diffOf('a.txt')).toMatchObject({
      change: 'modified',
      shown_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+hid<U+202E>den',
      added_lines: 1,
      removed_lines: 0,
    })
    expect(await diffOf('b.txt')).toMatchObject({ change: 'deleted', removed_lines: 1 })
    expect(await diffOf('c.txt')).toMatchObject({ change: 'added', added_lines: 1, why_not: null })
  })

  test('show no file outside, no secret and nothing to those who may not see them', async () => {
    await using doors = await openKept()
    const { root, path } = doors
    writeFileSync(join(root, '.env'), 'KEY=1\n')
    const refused = async (name: string, who = asOperator) => refusalOf(await doors.get(`${path}/diff${name}`, who))

    expect(await json(await doors.get(`${path}/diff?path=.env`, asOperator))).toMatchObject({
      diff: null,
      why_not: expect.stringContaining('passwords and keys'),
    })
    expect(await refused('?path=../outside.txt')).toMatchObject({ code: 'path_violation' })
    expect(await refused('?path=nowhere.txt')).toEqual({ status: 404, code: 'file_not_found' })
    expect(await refused('')).toEqual({ status: 400, code: 'invalid_request' })
    expect((await doors.get(`${path}/changes`, asAda)).status).toBe(404)
    expect((await doors.get(`${path}/diff?path=a.txt`, asAda)).status).toBe(404)
  })

  test('others may not restore, and hashes alone bring nothing back', async () => {
    await using doors = await openKept()
    expect((await doors.post(`${doors.path}/restore`, {}, asEve)).status).toBe(403)
    const bare = await doors.post(`/sessions/${doors.session.id}/checkpoint`, { contents: false }, asOperator)
    const { checkpoint_id } = CheckpointSchema.parse(await bare.json())

    expect(await refusalOf(await doors.post(`/checkpoints/${checkpoint_id}/restore`, {}, asOperator))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
  })
})

describe('POST /sessions/{id}/run', () => {
  test('runs the configured command, and the log of the session shows its output', async () => {
    await using doors = await openSupervisedDoors()
    const { id } = await doors.open({ workspaceRoot: makeWorkspace({}) })

    const response = await doors.post(`/sessions/${id}/run`, { alias: 'echo' }, asOperator)

    expect(CommandResultSchema.parse(await response.json())).toMatchObject({
      alias: 'echo',
      ended: 'exit',
      exit_code: 3,
    })
    const entries = await doors.store.entries(id, 0, 100)
    const shown = entries.map(({ data }) => JSON.parse(data)).filter(({ type }) => type === 'ACTIVITY_SNAPSHOT')
    expect(shown.map(({ activityType }) => activityType)).toEqual(
      expect.arrayContaining(['command', 'command_output', 'command_ended']),
    )
    expect(JSON.stringify(shown)).toContain('hello')
    expect((await doors.elsewhere.sessions.get(id)).supervision.stallPaused).toBe(false)
  })

  test('an unknown alias is told which there are, and others may run nothing', async () => {
    await using doors = await openSupervisedDoors()
    const { id } = await doors.open({ workspaceRoot: makeWorkspace({}) })

    const unknown = await json(await doors.post(`/sessions/${id}/run`, { alias: 'eho' }, asOperator))
    expect(unknown).toMatchObject({ code: 'command_not_found', known: ['echo'] })
    expect((await doors.post(`/sessions/${id}/run`, { alias: 'echo' }, asEve)).status).toBe(403)
  })
})

describe('POST /sessions', () => {
  test('says how to set up a host if there is none, and who may start agents', async () => {
    await using doors = await openSupervisedDoors()
    const body = { prompt: 'Do it.', workspace: '/srv/shop' }

    expect(await refusalOf(await doors.post('/sessions', body, asEve))).toEqual({ status: 409, code: 'conflict' })
    expect((await doors.post('/sessions', body, asLocalUser)).status).toBe(403)
    expect((await doors.post('/sessions', { ...body, prompt: ' ' }, asOperator)).status).toBe(400)
  })
})

describe('POST /sessions/purge', () => {
  test('removes what ended long ago with all that belongs to it, and never an open session', async () => {
    await using doors = await openKept()
    const open = await doors.open({ connectionId: 'other' })
    await doors.post(`/sessions/${doors.session.id}/terminate`, {}, asOperator)
    const purge = async (body: object) =>
      PurgedSchema.parse(await json(await doors.post('/sessions/purge', body, asOperator)))
    expect(await purge({ dry_run: true })).toMatchObject({ count: 0 })
    doors.wait(31 * 24 * 60 * 60 * 1_000)

    expect(await purge({ dry_run: true })).toEqual({ dry_run: true, count: 1, sessions: [doors.session.id] })
    expect((await doors.get(doors.path, asOperator)).status).toBe(200)
    expect(await purge({})).toMatchObject({ count: 1 })
    expect((await doors.get(doors.path, asOperator)).status).toBe(404)
    expect((await doors.elsewhere.sessions.get(open.id)).supervision.status).toBe('active')
    expect(await purge({})).toMatchObject({ count: 0 })
  })
})
