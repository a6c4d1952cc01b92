import { describe, expect, test } from 'vitest'
import { plainStyle } from '../../../terminal/style.ts'
import { readRecord, type ShownRecord } from '../records.ts'
import { alert, callApproval, diffApproval, ids, prompt } from '../testing/socket-server.ts'
import { breakLine } from './screen-line.ts'
import { screenLines } from './watch-screen.ts'
import { firstState, type Key, openRecord, pressKey, resize, takeItems, type WatchState } from './watch-state.ts'

const low = readRecord.approval(diffApproval)
const high = readRecord.approval(callApproval)
const question = readRecord.approval({ ...callApproval, kind: 'question', question: { message: 'Which?', schema: {} } })
const asked = readRecord.prompt(prompt)
const silent = readRecord.alert(alert)

const size = { columns: 60, rows: 12 }
const watching = (...items: ShownRecord[]): WatchState => takeItems(firstState(size), items).state

const special = new Set(['up', 'down', 'return', 'escape', 'backspace', 'space', 'pagedown', 'end', 'home'])
const keyOf = (word: string): Key => {
  if (word === '^c') return { name: 'c', ctrl: true, text: '' }
  if (special.has(word)) return { name: word, ctrl: false, text: word === 'space' ? ' ' : '' }
  return { name: word.toLowerCase(), ctrl: false, text: word }
}

/** Presses one key after the other; the effect is that of the last one. */
function press(state: WatchState, ...keys: string[]) {
  let turn: ReturnType<typeof pressKey> = { state, effect: null }
  for (const key of keys) turn = pressKey(turn.state, keyOf(key))
  return turn
}

describe('keys', () => {
  test.each([
    [[low], ['q'], { type: 'quit', interrupted: false }],
    [[low], ['r', 'x', '^c'], { type: 'quit', interrupted: true }],
    [[low], ['a', 'y'], { type: 'approve', item: low }],
    [[low], ['a', 'n'], null],
    [[low], ['a', 'return'], null],
    [[low], ['a', 'escape', 'y'], null],
    [[low], ['r', 'n', 'o', 'return'], { type: 'reject', item: low, reason: 'no' }],
    [[low], ['r', 'x', 'backspace', 'return'], { type: 'reject', item: low, reason: '' }],
    [[low], ['r', 'escape', 'return'], { type: 'open', item: low }],
    [[low], ['e'], { type: 'edit', item: low }],
    [[low], ['d'], { type: 'open', item: low }],
    [[low, asked], ['down', 'c', 'y'], { type: 'answer', item: asked, decision: 'continue', text: '' }],
    [[low, asked], ['j', 'k', 'j', 'f', 'o', 'return'], { type: 'answer', item: asked, decision: 'refine', text: 'o' }],
    [[low, asked], ['j', 'f', 'return'], null],
    [[low, asked], ['j', 'x', 'y'], { type: 'answer', item: asked, decision: 'stop', text: '' }],
    [[low, asked], ['j', 'a'], null],
    [[silent], ['n', 'return'], { type: 'nudge', item: silent, text: '' }],
    [[silent], ['n', 'u', 'p', 'return'], { type: 'nudge', item: silent, text: 'up' }],
    [[silent], ['i'], { type: 'dismiss', item: silent }],
    [[silent], ['s', 'h', 'i', 'return'], { type: 'steer', item: silent, text: 'hi' }],
    [[silent], ['s', 'return'], null],
    [[], ['a'], null],
    [[], ['down'], null],
    [[low], ['?', 'a'], null],
    // A risky one is opened before anybody can say yes to it.
    [[high], ['a'], { type: 'open', item: high }],
    [[question], ['a'], { type: 'respond', item: question }],
    [[question], ['e'], null],
  ] as const)('%#: the keys %j', (items, keys, effect) => {
    expect(press(watching(...items), ...keys).effect).toEqual(effect)
  })
})

test('what is answered while it is fetched is not opened over the next item', () => {
  const { state } = takeItems(watching(low, asked), [asked])

  expect(openRecord(state, low, ['text'])).toEqual({ ...state, notice: 'It has been answered elsewhere.' })
})

describe('what is risky', () => {
  const long = Array.from({ length: 35 }, (_, n) => `+line ${n}`)

  test('can be approved after all of it has been on the screen, page by page', () => {
    const open = openRecord(watching(high), high, long)
    expect(press(open, 'a').state.notice).toContain('read it page by page')
    expect(press(open, 'space', 'space', 'a', 'y').effect).toBe(null)
    expect(press(open, 'space', 'space', 'space', 'a', 'y').effect).toEqual({ type: 'approve', item: high })
    // The list knows it too.
    expect(press(open, 'space', 'space', 'space', 'q', 'a', 'y').effect).toEqual({ type: 'approve', item: high })
  })

  test('does not count as seen after a jump to its end, or when it is another one by then', () => {
    const open = openRecord(watching(high), high, long)
    expect(press(open, 'end', 'a', 'y').effect).toBe(null)
    expect(press(open, 'G', 'a', 'y').effect).toBe(null)
    const seen = press(open, 'space', 'space', 'space').state
    const changed = { ...high, record: { ...high.record, digest: 'another' } }
    expect(press(takeItems(seen, [changed]).state, 'q', 'a').effect).toEqual({ type: 'open', item: changed })
  })

  test('is not cut off at the edge of the screen', () => {
    const open = openRecord(watching(high), high, [`+${'x'.repeat(1_000)}evil()`])
    expect(open.seen.size).toBe(0)
    expect(open.view.type === 'record' && open.view.lines.map(({ text }) => text).join('')).toMatch(/x{1000}evil\(\)$/)
    expect(press(resize(open, { columns: 200, rows: 40 }), 'a').state.input).not.toBe(null)
  })
})

describe('a list that changes', () => {
  test('says nothing about what this person has answered', () => {
    const open = openRecord(watching(low, asked), low, ['text'])
    const { state, effect } = press(open, 'a', 'y')
    expect([effect, takeItems(state, [asked]).state.notice]).toEqual([{ type: 'approve', item: low }, ''])
  })

  test('keeps the selection, and moves it to what took its place', () => {
    const state = press(watching(low, asked, silent), 'down').state
    expect(takeItems(state, [high, low, asked, silent])).toMatchObject({ isNew: true, state: { selected: ids.prompt } })
    expect(takeItems(state, [low, silent])).toMatchObject({ isNew: false, state: { selected: ids.alert } })
    expect(takeItems(state, []).state.selected).toBe(null)
  })

  test('takes back a question about something that somebody else has answered', () => {
    const state = press(watching(low, asked), 'a').state
    const gone = takeItems(state, [asked]).state
    expect([gone.input, gone.notice]).toEqual([null, 'It has been answered elsewhere.'])
    expect(press(gone, 'y').effect).toBe(null)
    const open = openRecord(watching(low, asked), low, ['text'])
    expect(takeItems(open, [asked]).state.view).toEqual({ type: 'list' })
  })
})

describe('the screen', () => {
  const hostile = readRecord.approval({
    ...diffApproval,
    title: `\x1b[2J\x1b]0;owned\x07${'wide 漢字 '.repeat(50)}\nquarterdeck: approved`,
    change: null,
  })

  test.each([size, { columns: 20, rows: 4 }, { columns: 1, rows: 1 }])('always fits into %j', (room) => {
    const states = [
      watching(),
      watching(hostile, high, asked, silent),
      press(watching(hostile), 'r', ...'a very long reason that does not fit').state,
      press(watching(hostile), 'a').state,
      press(watching(hostile), '?').state,
      openRecord(watching(hostile), hostile, ['+one', `-${'漢'.repeat(100)}`]),
    ]
    for (const state of states) {
      const lines = screenLines(resize(state, room), plainStyle)
      expect(lines.length).toBe(Math.max(room.rows, 1))
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
      expect(lines.join('')).not.toMatch(/[\x00-\x1f\x7f]/)
      if (room.columns > 10) {
        for (const line of lines) expect(breakLine(line, room.columns).length).toBe(1)
      }
    }
  })

  test('tells three refunds and three policies apart by agent, folder and arguments', () => {
    const ask = (n: number, agent: number, more: object) =>
      readRecord.approval({
        ...callApproval,
        approval_id: `0192f3b1-1111-7def-8abc-00000000000${n}`,
        ...{ host: `agent-${agent}`, workspace_root: `/srv/shop-${agent}` },
        ...more,
      })
    const refund = (n: number, agent: number, amount: number) =>
      ask(n, agent, { kind: 'tool_call', title: 'Refund', arguments: { order: 7, amount } })
    const policy = (n: number, agent: number) =>
      ask(n, agent, { kind: 'policy', title: 'Accept the policy', arguments: { file: 'policy.json' } })
    const items = [refund(1, 1, 100), refund(2, 1, 1000), refund(3, 2, 100), policy(4, 1), policy(5, 2), policy(6, 3)]
    const state = takeItems(firstState({ columns: 81, rows: 14 }), items).state

    expect(screenLines(state, plainStyle).slice(1, 10)).toEqual([
      '> 0001 09:04 high     tool_call  agent-1 shop-1  Refund (order: 7, amount: 100)',
      '  0002 09:04 high     tool_call  agent-1 shop-1  Refund (order: 7, amount: 1000)',
      '  0003 09:04 high     tool_call  agent-2 shop-2  Refund (order: 7, amount: 100)',
      '  0004 09:04 high     policy  agent-1 shop-1  Accept the policy (file: policy...',
      '  0005 09:04 high     policy  agent-2 shop-2  Accept the policy (file: policy...',
      '  0006 09:04 high     policy  agent-3 shop-3  Accept the policy (file: policy...',
      '',
      'agent-1  /srv/shop-1',
      'Refund (order: 7, amount: 100)',
    ])
  })

  test('shows what waits and which keys there are', () => {
    expect(screenLines(watching(low, high), plainStyle)).toEqual([
      'Quarterdeck  2 wait  (times in UTC)',
      '> 0001 09:04 low      diff  claude-code  src/a.ts: Faste...',
      '  0002 09:04 high     permission  claude-code  Bash (com...',
      '',
      'claude-code',
      'src/a.ts: Faster search',
      ...Array.from({ length: 5 }, () => ''),
      '? help  a approve  r reject  d whole text  e edit  s ste...',
    ])
  })
})
