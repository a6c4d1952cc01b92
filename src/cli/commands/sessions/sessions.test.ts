import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { lockDataDir } from '../../../app/open-store.ts'
import { SCHEMA_VERSION } from '../../../store/sqlite/migrations.ts'
import { main } from '../../main.ts'
import { archiveLine, SAMPLE_NOW, sampleSession } from '../../testing/sample-session.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, instantClock } from '../../testing/test-io.ts'
import { endLine } from './archive-lines.ts'
import { type ArchivedSession, archiveHeader } from './session-archive.ts'

const archive = (...sessions: ArchivedSession[]): string =>
  [archiveHeader(SAMPLE_NOW), ...sessions.map(archiveLine), endLine(sessions.length), ''].join('\n')

async function sessions(cwd: string, args: string[], stdin = '') {
  const io = createTestIo({ cwd, stdin, clock: instantClock(SAMPLE_NOW) })
  const exitCode = await main(['sessions', ...args], io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

describe('quarterdeck sessions', () => {
  test('exports exactly what was imported, of all users and including hidden sessions', async () => {
    const cwd = await tempFolder()
    const unlisted = sampleSession(3)
    unlisted.session.unlisted = true
    const anns = sampleSession(2, 'ann')
    // No log entry names a run that has not started.
    const queued = { status: 'queued', startedAt: null, finishedAt: null, firstSeq: null, lastSeq: null } as const
    const id = '0199a000-0000-7000-8003-000000000002'
    anns.runs = [...anns.runs, ...anns.runs.slice(1).map((run) => ({ ...run, ...queued, id, wireId: id, usage: [] }))]
    const text = archive(sampleSession(1), anns, unlisted)

    expect(await sessions(cwd, ['import', '-'], text)).toEqual({ exitCode: 0, out: '', err: 'Imported 3 sessions.\n' })
    expect(await sessions(cwd, ['export'])).toEqual({
      exitCode: 0,
      out: text,
      err:
        'Exported 3 sessions.\n' +
        '1 session had a run that has not ended. It goes on where you import it: stop the server here first, or it runs twice.\n',
    })
    expect(await sessions(cwd, ['export', '--owner', 'local_user'])).toEqual({
      exitCode: 0,
      out: archive(sampleSession(1), unlisted),
      err: 'Exported 2 sessions of local_user.\n',
    })
  })

  test('exports chosen sessions by id or name, into a new private file', async () => {
    const cwd = await tempFolder()
    await sessions(cwd, ['import', '-'], archive(sampleSession(1), sampleSession(2), sampleSession(3)))

    const args = ['export', 'talk-2', sampleSession(1).session.id, 'talk-1', '--output', 'two.jsonl']
    expect(await sessions(cwd, args)).toEqual({ exitCode: 0, out: '', err: 'Exported 2 sessions.\n' })
    expect(await readFile(join(cwd, 'two.jsonl'), 'utf8')).toBe(archive(sampleSession(2), sampleSession(1)))
    expect((await stat(join(cwd, 'two.jsonl'))).mode & 0o777).toBe(0o600)

    expect(await sessions(cwd, args)).toEqual({
      exitCode: 73,
      out: '',
      err: 'quarterdeck: two.jsonl already exists and was not changed.\n  Choose another file: --output <file>\n',
    })
    expect(await sessions(cwd, ['export', 'nobody'])).toMatchObject({
      exitCode: 2,
      err: 'quarterdeck: There is no session "nobody".\n  To see all sessions: quarterdeck sessions list\n',
    })
  })

  test('a name that several users have needs the user', async () => {
    const cwd = await tempFolder()
    const anns = sampleSession(2, 'ann')
    anns.session.alias = 'talk-1'
    await sessions(cwd, ['import', '-'], archive(sampleSession(1), anns))

    expect(await sessions(cwd, ['export', 'talk-1'])).toEqual({
      exitCode: 2,
      out: '',
      err:
        'quarterdeck: Several users have a session "talk-1": local_user, ann.\n' +
        '  Name the user with --owner <name>, or give the id of the session.\n',
    })
    expect((await sessions(cwd, ['export', 'talk-1', '--owner', 'ann'])).out).toBe(archive(anns))
    expect(await sessions(cwd, ['export', sampleSession(1).session.id, '--owner', 'ann'])).toMatchObject({
      exitCode: 2,
      err: expect.stringMatching(/^quarterdeck: ann has no session "0199a000-/),
    })
  })

  test('refuses to import existing sessions and imports the rest', async () => {
    const cwd = await tempFolder()
    await sessions(cwd, ['import', '-'], archive(sampleSession(1)))
    const changed = sampleSession(1)
    changed.session.metadata = { note: 'changed' }

    const result = await sessions(cwd, ['import', '-'], archive(changed, sampleSession(2)))

    expect(result.exitCode).toBe(1)
    expect(result.err).toMatch(
      /^Line 2: session 0199a000-\S+ refused: .+\nImported 1 session\. 1 session already existed/,
    )
    expect((await sessions(cwd, ['export'])).out).toBe(archive(sampleSession(1), sampleSession(2)))
  })

  test('stops at a damaged line and says how many it has imported', async () => {
    const cwd = await tempFolder()

    expect(
      await sessions(cwd, ['import', '-'], `${archive(sampleSession(1))}{}\n${archiveLine(sampleSession(2))}\n`),
    ).toEqual({
      exitCode: 2,
      out: '',
      err:
        'Imported 1 session before it stopped.\n' +
        'quarterdeck: Line 4: session: Invalid input: expected object, received undefined.\n' +
        '  The file is damaged or was not written by `quarterdeck sessions export`.\n',
    })
    expect(await sessions(cwd, ['import', 'nowhere.jsonl'])).toMatchObject({
      exitCode: 2,
      err: 'quarterdeck: There is no file nowhere.jsonl.\n',
    })
  })

  test('lists sessions, the most recently used first, with a column OWNER unless --owner is given', async () => {
    const cwd = await tempFolder()
    const unlisted = sampleSession(4)
    unlisted.session.unlisted = true
    await sessions(
      cwd,
      ['import', '-'],
      archive(sampleSession(20), sampleSession(1), sampleSession(3, 'ann'), unlisted),
    )

    expect((await sessions(cwd, ['list'])).out).toBe(
      'SESSION                               OWNER       LAST USED (UTC)   MESSAGES  AGENT      NAME\n' +
        '0199a000-0000-7000-8000-000000000001  local_user  2026-11-14 00:00  3         assistant  talk-1\n' +
        '0199a000-0000-7000-8000-000000000003  ann         2026-11-12 00:00  3         assistant  talk-3\n' +
        '0199a000-0000-7000-8000-000000000014  local_user  2026-10-26 00:00  3         assistant  talk-20\n',
    )
    expect((await sessions(cwd, ['list', '--owner', 'local_user'])).out).toBe(
      'SESSION                               LAST USED (UTC)   MESSAGES  AGENT      NAME\n' +
        '0199a000-0000-7000-8000-000000000001  2026-11-14 00:00  3         assistant  talk-1\n' +
        '0199a000-0000-7000-8000-000000000014  2026-10-26 00:00  3         assistant  talk-20\n',
    )
    expect((await sessions(cwd, ['list', '--owner', 'ann', '--json'])).out).toBe(
      `${JSON.stringify({
        session_id: sampleSession(3).session.id,
        owner: 'ann',
        alias: 'talk-3',
        agent: 'assistant',
        status: 'active',
        message_count: 3,
        created_at: '2026-11-12T00:00:00.000Z',
        last_activity: '2026-11-12T00:00:00.000Z',
      })}\n`,
    )
    expect((await sessions(cwd, ['list', '--limit', '1'])).out.split('\n').length).toBe(3)
    expect(await sessions(cwd, ['list', '--owner', 'bob'])).toEqual({
      exitCode: 0,
      out: '',
      err: 'bob has no sessions.\n',
    })
  })

  test('purges old sessions, and a dry run lists the same ones', async () => {
    const cwd = await tempFolder()
    const unlisted = sampleSession(60)
    unlisted.session.unlisted = true
    const waiting = sampleSession(70)
    for (const run of waiting.runs.slice(1)) Object.assign(run, { status: 'waiting', finishedAt: null })
    const kept = archive(sampleSession(1), waiting)
    const all = archive(sampleSession(1), sampleSession(40), sampleSession(50, 'ann'), unlisted, waiting)
    await sessions(cwd, ['import', '-'], all)

    expect(await sessions(cwd, ['delete', '--older-than', '30d', '--dry-run'])).toEqual({
      exitCode: 0,
      out:
        'SESSION                               OWNER       LAST USED (UTC)   MESSAGES  AGENT      NAME\n' +
        '0199a000-0000-7000-8000-000000000028  local_user  2026-10-06 00:00  3         assistant  talk-40\n' +
        '0199a000-0000-7000-8000-000000000032  ann         2026-09-26 00:00  3         assistant  talk-50\n' +
        '0199a000-0000-7000-8000-00000000003c  local_user  2026-09-16 00:00  3         assistant  talk-60\n',
      err: '3 sessions would be removed.\n',
    })
    expect((await sessions(cwd, ['export'])).out).toBe(all)

    expect((await sessions(cwd, ['delete', '--older-than', '30d'])).err).toBe('Removed 3 sessions.\n')
    expect((await sessions(cwd, ['export'])).out).toBe(kept)
    expect(await sessions(cwd, ['delete', '--older-than', 'soon'])).toMatchObject({
      exitCode: 2,
      err: 'quarterdeck: --older-than "soon" is not an age.\n  Write 12h or 30d, for example.\n',
    })
  })

  test('upgrades and reads older data, unless a server of that version uses it', async () => {
    const cwd = await tempFolder()
    const dataDir = join(cwd, '.quarterdeck')
    await mkdir(dataDir, { mode: 0o700 })
    const database = new DatabaseSync(join(dataDir, 'quarterdeck.db'))
    // Before its first migration. Real older versions begin with 0.1.0.
    database.exec('PRAGMA journal_mode = WAL')
    database.close()

    const lock = lockDataDir(dataDir)
    expect(await sessions(cwd, ['list'])).toEqual({
      exitCode: 73,
      out: '',
      err:
        `quarterdeck: The data directory was written by an older Quarterdeck (format 0, this one reads ${SCHEMA_VERSION}). ` +
        'Start the server of this version once: it updates the data.\n' +
        `  A server of the older version is using ${dataDir} now. Stop it first.\n`,
    })
    lock.release()
    expect(await sessions(cwd, ['list'])).toEqual({ exitCode: 0, out: '', err: 'There are no sessions.\n' })
  })

  test('refuses data from before 0.1.0, and leaves it as it is', async () => {
    const cwd = await tempFolder()
    await sessions(cwd, ['import', '-'], archive(sampleSession(1)))
    const path = join(cwd, '.quarterdeck', 'quarterdeck.db')
    const database = new DatabaseSync(path)
    database.exec('PRAGMA application_id = 0; PRAGMA user_version = 15')
    database.close()
    const before = await readFile(path)

    for (const args of [['list'], ['export'], ['delete', '--older-than', '1d'], ['import', '-']]) {
      expect(await sessions(cwd, args, archive(sampleSession(2)))).toEqual({
        exitCode: 73,
        out: '',
        err:
          'quarterdeck: The data directory was written before 0.1.0 (format 15), and this Quarterdeck cannot read it. ' +
          'Nothing was changed. To keep its sessions as JSON Lines, run `sessions export` in a checkout of ' +
          'commit 6665030b. Then use another --data-dir.\n  More: quarterdeck explain data_dir_older\n',
      })
    }
    expect((await readFile(path)).equals(before)).toBe(true)
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves no part of an archive behind when %s stops an export', async (signal, exitCode) => {
    const cwd = await tempFolder()
    await sessions(cwd, ['import', '-'], archive(sampleSession(1)))
    const io = createTestIo({ cwd, clock: instantClock(SAMPLE_NOW) })
    // The archive's first line asks for the time, just before it is written.
    const clock = {
      ...io.clock,
      now: () => {
        io.signal(signal)
        return SAMPLE_NOW
      },
    }
    expect(await main(['sessions', 'export', '-o', 'part.jsonl'], { ...io, clock })).toBe(exitCode)
    expect(io.complained()).toBe('quarterdeck: Stopped. part.jsonl was not written.\n')
    expect(await readdir(cwd)).toEqual(['.quarterdeck'])
  })

  test('says that data cannot be read, and does not claim that there is none', async () => {
    const cwd = await tempFolder()
    const dataDir = join(cwd, '.quarterdeck')
    await mkdir(dataDir)
    // Root may read everything, so a missing permission cannot be tested here. A link to itself cannot be opened either.
    await symlink('quarterdeck.db', join(dataDir, 'quarterdeck.db'))
    const refused = (reason: string) => ({
      exitCode: 2,
      out: '',
      err:
        `quarterdeck: The data in ${dataDir} cannot be read (${reason}).\n` +
        '  Run this command as the user that the server runs as.\n' +
        '  If the folder is read-only, copy it and name the copy: --data-dir <folder>\n',
    })
    expect(await sessions(cwd, ['list'])).toEqual(refused('ELOOP'))
    await rm(join(dataDir, 'quarterdeck.db'))
    expect((await sessions(cwd, ['import', '-'], archive(sampleSession(1)))).exitCode).toBe(0)
    await mkdir(join(dataDir, 'quarterdeck.db-wal'))
    expect(await sessions(cwd, ['list'])).toEqual(refused('EISDIR'))
  })

  test('creates no data directory where there is none to read', async () => {
    const cwd = await tempFolder()

    for (const args of [['list'], ['export'], ['delete', '--older-than', '1d']]) {
      expect(await sessions(cwd, args)).toMatchObject({
        exitCode: 2,
        err:
          `quarterdeck: There is no data of Quarterdeck in ${join(cwd, '.quarterdeck')}.\n` +
          '  Name the folder: --data-dir <folder> (a server prints it when it starts).\n' +
          '  If the data is in Postgres, set QUARTERDECK_STORE to the address of the database.\n',
      })
    }
    await writeFile(join(cwd, 'other.txt'), 'hello\n')
    expect(await readdir(cwd)).toEqual(['other.txt'])
  })
})
