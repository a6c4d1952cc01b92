import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { markOf } from '../../tools/process/process-table.ts'
import { isRunning } from '../../tools/process/testing/is-running.ts'
import { findChildren } from './child-records.ts'
import { startHost } from './start-host.ts'
import { spawnPlaces } from './testing/spawn-places.ts'

/** A process that nobody of this server watches, as after a crash. */
async function orphan({ at, records }: ReturnType<typeof spawnPlaces>, started?: string) {
  const child = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!; wait'], { detached: true })
  const exited = once(child, 'exit')
  const [bytes] = await once(child.stdout, 'data')
  const pid = child.pid ?? 0
  const folder = at('run/hosts/01SESSION')
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/mcp.json`, 'token')
  records.write({
    session_id: '01SESSION',
    pid,
    started: started ?? markOf(pid)?.started ?? '',
    host: 'claude',
    workspace: at('shop'),
    folder,
    started_at: '2026-11-15T00:00:00.000Z',
  })
  return { pids: [pid, Number(String(bytes))], exited, end: () => process.kill(-pid, 'SIGKILL') }
}

describe('hosts that an earlier process has started', () => {
  test('are on record while they run', async () => {
    const { deps, request, records, printed } = spawnPlaces('echo up; exec sleep 1000')
    const host = startHost(request, deps)
    await printed('up')
    expect(records.list()).toMatchObject([{ session_id: '01SESSION', pid: host.pid, host: 'custom' }])
    await host.terminate()
    expect(records.list()).toEqual([])
  })

  test('are found and can be ended with everything they have started', async () => {
    const places = spawnPlaces('')
    const { pids, exited } = await orphan(places)
    const [found, ...others] = findChildren({
      records: places.records,
      runtimeDir: places.at('run'),
      clock: createSystemClock(),
    })
    expect([found?.record.pid, others]).toEqual([pids[0], []])
    await found?.terminate()
    await exited
    expect(pids.map(isRunning)).toEqual([false, false])
    expect([places.records.list(), readdirSync(places.at('run/hosts'))]).toEqual([[], []])
  })

  test('are watched until they are gone', async () => {
    const places = spawnPlaces('')
    const clock = createManualClock()
    const { exited, end } = await orphan(places)
    const [found] = findChildren({ records: places.records, runtimeDir: places.at('run'), clock })
    let isGone = false
    const gone = found?.gone().then(() => {
      isGone = true
    })
    await clock.advance(10_000)
    expect(isGone).toBe(false)
    end()
    await exited
    await clock.advance(1_000)
    await gone
    expect(places.records.list()).toEqual([])
  })

  test('whose number belongs to somebody else by now are forgotten, not killed', async () => {
    const places = spawnPlaces('')
    const { pids, exited, end } = await orphan(places, 'another start')
    expect(findChildren({ records: places.records, runtimeDir: places.at('run'), clock: createSystemClock() })).toEqual(
      [],
    )
    expect(pids.map(isRunning)).toEqual([true, true])
    expect([places.records.list(), existsSync(places.at('run/hosts/01SESSION'))]).toEqual([[], false])
    end()
    await exited
  })

  test('leave no configuration behind, even if the crash came before the record', () => {
    const { at, records } = spawnPlaces('')
    mkdirSync(at('run/hosts/01LOST'), { recursive: true })
    writeFileSync(at('run/hosts/01LOST/mcp.json'), 'token')
    mkdirSync(at('data/hosts'))
    writeFileSync(at('data/hosts/01CUT.json'), '{"session_id": "01C')
    expect(findChildren({ records, runtimeDir: at('run'), clock: createSystemClock() })).toEqual([])
    expect([readdirSync(at('run/hosts')), readdirSync(at('data/hosts'))]).toEqual([[], []])
  })

  test('have names of ours only', () => {
    const { records } = spawnPlaces('')
    expect(() => records.outputPath('../../etc/passwd')).toThrow(/not the id of a session/)
  })

  test('leave no output when their session is purged', () => {
    const { at, records } = spawnPlaces('')
    for (const ending of ['', '.1']) writeFileSync(records.outputPath('01SESSION') + ending, 'x')
    records.purge('01SESSION')
    expect(readdirSync(at('data/hosts'))).toEqual([])
  })
})
