// A move from SQLite to Postgres and back, by the real program, which is killed again and again. Whoever repeats it has everything, once.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, onTestFinished, test } from 'vitest'
import { archiveOf, openFullPlace } from '../../src/cli/testing/interrupted-import.ts'
import { fromEnvironment, print } from '../crash/support/figures.ts'
import { startPostgres } from '../postgres/server.ts'
import { askOnce } from '../postgres/test-database.ts'

const SESSIONS = fromEnvironment('SESSIONS', 400)
const KILLS = fromEnvironment('KILLS', 6)

interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  out: string
  err: string
}

test('a move that is killed again and again is whole in the end, and nothing is there twice', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'quarterdeck-moving-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const postgres = await startPostgres()
  onTestFinished(() => postgres.discard())
  const full = await openFullPlace(join(cwd, 'a'), SESSIONS - 1)
  writeFileSync(join(cwd, 'a.jsonl'), await archiveOf(full))
  await full.store.close()

  const there = { QUARTERDECK_STORE: postgres.url }
  const inPostgres = () =>
    askOnce(postgres.url, 'SELECT count(*)::int AS n FROM sessions').then(([row]) => Number(row?.n))
  const kills = [await move(cwd, 'a.jsonl', there, [], inPostgres)]
  expect(await run(cwd, there, 'sessions', 'export', '--all', '-o', 'pg.jsonl')).toMatchObject({ code: 0 })

  const back = ['--data-dir', 'b']
  kills.push(await move(cwd, 'pg.jsonl', {}, back, () => inSqlite(join(cwd, 'b', 'quarterdeck.db'))))
  // Without the audit trail, which says in `b` that it was imported.
  expect(await run(cwd, {}, 'sessions', 'export', ...back, '-o', 'b.jsonl')).toMatchObject({ code: 0 })

  // The first archive is in the store that has gone both ways, and the other way round.
  expect(await run(cwd, {}, 'sessions', 'compare', 'a.jsonl', ...back)).toMatchObject({ code: 0 })
  expect(await run(cwd, {}, 'sessions', 'compare', 'b.jsonl', '--data-dir', 'a')).toMatchObject({ code: 0 })
  for (const count of kills) expect(count).toBeGreaterThan(0)
  print(`P42: ${SESSIONS} sessions moved to Postgres and back, killed ${kills.join(' and ')} times: 0 missing, 0 twice`)
})

/** Kills imports when the target has so many sessions, later and later. Then repeats it in peace, and compares. Returns the kills. */
async function move(
  cwd: string,
  file: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[],
  count: () => Promise<number> | number,
): Promise<number> {
  let kills = 0
  for (let i = 0; i < KILLS; i += 1) {
    const importing = launch(cwd, env, 'sessions', 'import', '--all', file, ...flags)
    let isOver = false
    void importing.ended.then(() => {
      isOver = true
    })
    const enough = Math.floor((SESSIONS * i) / KILLS)
    while (!isOver && !((await Promise.resolve(count()).catch(() => -1)) >= enough)) await pause(2)
    importing.child.kill('SIGKILL')
    if ((await importing.ended).signal === 'SIGKILL') kills += 1
  }
  expect(await run(cwd, env, 'sessions', 'import', '--all', file, ...flags)).toMatchObject({ code: 0 })
  expect(await run(cwd, env, 'sessions', 'compare', file, ...flags)).toMatchObject({
    ...{ code: 0, out: '' },
    err: expect.stringContaining(`Nothing differs: ${SESSIONS} sessions, `),
  })
  expect(await run(cwd, env, 'audit', 'verify', ...flags)).toMatchObject({ code: 0 })
  return kills
}

function inSqlite(path: string): number {
  try {
    using db = new DatabaseSync(path, { readOnly: true, timeout: 1_000 })
    return Number(db.prepare('SELECT count(*) AS n FROM sessions').get()?.n)
  } catch {
    // It is not there yet.
    return -1
  }
}

function launch(cwd: string, env: Readonly<Record<string, string>>, ...args: string[]) {
  const program = inject('program')
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      XDG_CACHE_HOME: join(dirname(program), '../cache'),
      QUARTERDECK_CONFIG_DIR: join(cwd, 'config'),
      QUARTERDECK_RELAUNCHED: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const said = [child.stdout, child.stderr].map((stream) => (stream === null ? '' : text(stream)))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', async (code, signal) => {
      const [out = '', err = ''] = await Promise.all(said)
      resolve({ code, signal, out, err })
    })
  })
  return { child, ended }
}

const run = (cwd: string, env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> =>
  launch(cwd, env, ...args).ended
