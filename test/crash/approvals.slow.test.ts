// A call that needs approval, and a server that is killed meanwhile. Between the question and the stored result there is no point at
// which the call is lost, runs twice or runs without approval.
//
//   KILLS=100 SEED=7 vitest run test/crash/approvals.slow.test.ts      the long variant. SEED replays a run

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRandom } from '../sim/random.ts'
import { databaseFaults, withDatabaseCopy } from './support/database.ts'
import { fromEnvironment, ms, print, quantile } from './support/figures.ts'
import { type Hold, ledgerYard, openLedger } from './support/ledger-tool.ts'
import { approval, approvals, decide, endOf, eventsOf, operatorEnv, type ShownApproval } from './support/operator.ts'
import { runInput } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { openYard, type TestServer } from './support/start-server.ts'
import { until } from './support/until.ts'

const KILLS = fromEnvironment('KILLS', 2)
const SEED = fromEnvironment('SEED', 20_261_115)
const PER_KILL = 10
const OPERATORS = 50

const startOptions = { flags: ['--log-level', 'warn'], env: operatorEnv }

async function openHouse(names: readonly { name: string; hold: Hold }[]) {
  const yard = await openYard(onTestFinished, ledgerYard(names))
  return { yard, ledger: openLedger(yard.directory), start: () => yard.start(startOptions) }
}

/** Asks for a payment in a new thread. Resolves with what the client has seen when its stream ends. */
const ask = (server: TestServer, name: string) =>
  record({ url: server.url, method: 'POST', body: runInput(name, name, `Please pay for ${name};`) })

async function pendingFor(server: TestServer, name: string): Promise<ShownApproval> {
  let found: ShownApproval | undefined
  await until(`${name} waits for a yes`, async () => {
    found = (await approvals(server.url)).find((one) => one.arguments.name === name && one.status === 'pending')
    return found !== undefined
  })
  if (found === undefined) throw new Error('not there')
  return found
}

/** Reads the run that went on after the answer to its end. */
async function continued(server: TestServer, id: string) {
  const { continuation_run_id: runId } = await approval(server.url, id)
  return runId === null ? {} : endOf(await eventsOf(server.url, runId))
}

describe('kill -9 of a server whose agent waits for an approval', () => {
  test('loses neither the question nor the answer, and no call runs twice', async () => {
    const points = [
      'while it waits',
      'before the effect',
      'after the effect',
      'behind the result',
      'right behind a no',
      'right behind a yes',
    ] as const
    const holds: Partial<Record<(typeof points)[number], Hold>> = {
      'before the effect': 'before',
      'after the effect': 'after',
    }
    const names = points.map((point, i) => ({ point, name: `p${i}`, hold: holds[point] ?? ('none' as const) }))
    const { yard, ledger, start } = await openHouse(names)
    const first = await start()
    const questions = await Promise.all(
      names.map(async ({ point, name }) => {
        const asked = await ask(first, name).done
        expect([point, endOf(asked.frames)]).toEqual([point, { outcome: 'interrupt' }])
        return await pendingFor(first, name)
      }),
    )
    // The last two are answered when all others are in place, because the kill comes right after the 200.
    for (const [i, { point, name, hold }] of names.entries()) {
      if (point === 'while it waits') continue
      const id = questions[i]?.approval_id ?? ''
      const { status } = await decide(first.url, id, point === 'right behind a no' ? 'reject' : 'approve')
      expect([point, status]).toEqual([point, 200])
      if (hold === 'before' || hold === 'after') await until('the call is held', () => ledger.isHeld(hold, name))
      if (point === 'behind the result') await continued(first, id)
    }
    await first.kill()
    expect(await databaseFaults(yard)).toEqual([])

    for (const { name } of names) for (const place of ['before', 'after'] as const) ledger.release(place, name)
    const second = await start()
    const seen: Record<string, unknown> = {}
    for (const [i, { point, name }] of names.entries()) {
      const { approval_id: id = '', tool_call_id: call } = questions[i] ?? {}
      if (point === 'while it waits') {
        expect((await approval(second.url, id)).status).toBe('pending')
        expect((await decide(second.url, id, 'approve')).status).toBe(200)
      }
      const end = await continued(second, id)
      const again = await decide(second.url, id, 'approve')
      const { status } = await approval(second.url, id)
      // The error names the call that may have run, so that somebody can check.
      const named = end.message?.includes(`pay (${call})`)
      seen[point] = [end.outcome ?? end.code, named, ledger.count(name), status, again.status]
    }

    const inDoubt = ['needs_review', true]
    const { 'right behind a yes': atOnce, ...others } = seen
    expect(others).toEqual({
      'while it waits': ['success', undefined, 1, 'consumed', 409],
      'before the effect': [...inDoubt, 0, 'consumed', 409],
      'after the effect': [...inDoubt, 1, 'consumed', 409],
      'behind the result': ['success', undefined, 1, 'consumed', 409],
      'right behind a no': ['success', undefined, 0, 'rejected', 409],
    })
    // Here the kill comes before the call begins, while it runs, or after its result is stored.
    expect([
      ['success', undefined, 1, 'consumed', 409],
      [...inDoubt, 0, 'consumed', 409],
      [...inDoubt, 1, 'consumed', 409],
    ]).toContainEqual(atOnce)
    print(`P7: killed at ${points.length} points between the question and the result: 0 lost, 0 doubles`)
  })

  test('at any moment leaves each of many calls answerable or ended', { timeout: 600_000 }, async () => {
    const random = createRandom(SEED)
    const names = Array.from({ length: KILLS * PER_KILL }, (_, i) => ({ name: `n${i}x`, hold: 'slow' as const }))
    const { yard, ledger, start } = await openHouse(names)
    const faults: string[] = []
    const settleMs: number[] = []
    const told = new Map<string, number>()
    let asked = 0
    let reviews = 0
    let paid = 0
    let server = await start()

    for (let round = 0; round < KILLS; round += 1) {
      const wave = names.slice(round * PER_KILL, (round + 1) * PER_KILL).map(({ name }) => name)
      let isKilled = false
      // When the kill comes, one half has been asked, and the other asked and answered.
      const lives = wave.map(async (name, i) => {
        await ask(server, name).done
        if (i % 2 === 0 || isKilled) return
        // The server may be gone by now.
        const shown = await approvals(server.url).catch(() => [])
        const found = shown.find((one) => one.arguments.name === name)
        if (found === undefined) return
        const { status } = await decide(server.url, found.approval_id, 'approve')
        if (status !== null) told.set(found.approval_id, status)
      })
      await pause(random.between(0, 320))
      isKilled = true
      await server.kill()
      await Promise.allSettled(lives)
      faults.push(...(await databaseFaults(yard)))

      server = await start()
      const since = performance.now()
      const check = async (name: string) => {
        // Sent again with the same ids: either the run exists, or it begins now.
        const again = await ask(server, name).done
        if (!['interrupt', 'success'].includes(endOf(again.frames).outcome ?? '')) {
          faults.push(`${name}: the run that was to wait ended with ${JSON.stringify(endOf(again.frames))}`)
        }
        const mine = (await approvals(server.url)).filter((one) => one.arguments.name === name)
        asked += mine.length
        const [question] = mine
        if (question === undefined || mine.length > 1) {
          faults.push(`${name} has ${mine.length} approvals`)
          return
        }
        const id = question.approval_id
        if (told.get(id) === 200 && question.status === 'pending') faults.push(`${name}: a decision was lost`)
        if (question.status === 'pending') {
          const { status } = await decide(server.url, id, 'approve')
          if (status !== 200) faults.push(`${name}: what was still pending could not be answered: ${status}`)
        }
        const end = await continued(server, id)
        if (end.code === 'needs_review') reviews += 1
        const isEnded = end.outcome === 'success' || (end.code === 'needs_review' && end.message?.includes('pay ('))
        if (!isEnded) faults.push(`${name}: its continuation ended with ${JSON.stringify(end)}`)
        const count = ledger.count(name)
        paid += count
        if (count > 1) faults.push(`${name} was paid for ${count} times`)
        if (count === 0 && end.outcome === 'success') faults.push(`${name} is done and was not paid for`)
      }
      await Promise.all(wave.map(check))
      settleMs.push(performance.now() - since)
    }

    expect(faults).toEqual([])
    print(
      `P7: ${KILLS} kills around ${asked} questions: 0 lost, ${paid} paid for once, ${reviews} in doubt and named, 0 twice; all answered and ended p50 ${ms(quantile(settleMs, 0.5))} after the restart (seed ${SEED})`,
    )
  })
})

describe('kill -9 while one of two approved calls of an answer runs', () => {
  test('reports what happened to each, and leaves no approval open', async () => {
    const call = (name: string, hold: Hold) => ({ tool_call: { name: 'pay', arguments: { name, hold } } })
    const yard = await openYard(onTestFinished, {
      ...ledgerYard([]),
      answers: [
        { when: 'pay for both;', parts: [call('a', 'before'), call('b', 'none')] },
        { parts: [{ text: 'Well.' }] },
      ],
    })
    const ledger = openLedger(yard.directory)
    const first = await yard.start(startOptions)
    await ask(first, 'both').done
    const [a, b] = [await pendingFor(first, 'a'), await pendingFor(first, 'b')]
    expect((await decide(first.url, a.approval_id, 'approve')).status).toBe(200)
    await until('the first call is held', () => ledger.isHeld('before', 'a'))
    expect((await decide(first.url, b.approval_id, 'approve')).status).toBe(200)
    await first.kill()

    const second = await yard.start(startOptions)
    const end = await continued(second, a.approval_id)
    expect([end.code, end.message]).toEqual([
      'needs_review',
      `The server stopped while pay (${a.tool_call_id}) was running. Whether it took effect is not known, so it was not repeated; check, then ask again. Not run, though approved: pay (${b.tool_call_id}); the approval is void.`,
    ])
    const now = await Promise.all([a, b].map(({ approval_id }) => approval(second.url, approval_id)))
    expect(now.map(({ status }) => status)).toEqual(['consumed', 'interrupted'])
    expect([ledger.count('a'), ledger.count('b')]).toEqual([0, 0])
    // The result of each call says so, to people and to the model.
    const { body } = await record({ url: `${second.url}/sessions/${a.session_id}?include=tools` }).done
    const results = JSON.parse(body).messages.filter(({ role }: { role: string }) => role === 'tool')
    expect(results.map(({ content }: { content: string }) => content)).toEqual([
      expect.stringContaining('Whether it took effect is not known'),
      expect.stringContaining('This call did not run'),
    ])
    const late = await decide(second.url, b.approval_id, 'approve')
    expect([late.status, late.body.code]).toEqual([409, 'approval_decided'])
    await second.kill()
    const trail = await withDatabaseCopy(yard, (db) =>
      db
        .prepare('SELECT text FROM audit ORDER BY n')
        .all()
        .map(({ text }) => JSON.parse(String(text))),
    )
    const ends = trail.filter(({ kind }) => kind === 'call_finished' || kind === 'approval_voided')
    expect(ends.map(({ kind, call, details }) => [kind, call, details.status ?? null])).toEqual([
      ['call_finished', a.tool_call_id, 'unknown'],
      ['approval_voided', b.tool_call_id, null],
    ])
  })
})

describe('many operators', () => {
  test('who answer at the same time all see the same winner', async () => {
    const { ledger, start } = await openHouse([{ name: 'one', hold: 'none' }])
    const server = await start()
    await ask(server, 'one').done
    const question = await pendingFor(server, 'one')

    const answers = await Promise.all(
      Array.from({ length: OPERATORS }, (_, i) =>
        decide(server.url, question.approval_id, i % 2 === 0 ? 'approve' : 'reject'),
      ),
    )
    const won = answers.filter(({ status }) => status === 200)
    const lost = answers.filter(({ status }) => status === 409)
    const decided = await approval(server.url, question.approval_id)
    const end = await continued(server, question.approval_id)

    expect([won.length, lost.length]).toEqual([1, OPERATORS - 1])
    const isApproved = won[0]?.body.status === 'approved'
    expect([end, ledger.count('one')]).toEqual([{ outcome: 'success' }, isApproved ? 1 : 0])
    // Each loser is told who decided, and what.
    const told = lost.map(({ body }) => [body.code, String(body.detail).includes(`by ${decided.decided_by}`)])
    expect(told).toEqual(lost.map(() => ['approval_decided', true]))
    print(`P10: ${OPERATORS} decisions at once: 1 × 200, ${lost.length} × 409 with the winner`)
  })
})
