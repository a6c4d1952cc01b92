import { describe, expect, test } from 'vitest'
import { plainStyle } from '../../../terminal/style.ts'
import { readRecord, type ShownRecord } from '../records.ts'
import { elsewhere, ids, records, sent } from '../testing/socket-server.ts'
import { breakLine } from './screen-line.ts'
import { screenLines } from './watch-screen.ts'
import {
  firstState,
  type Key,
  keysOf,
  openRecord,
  pressKey,
  resize,
  rowsOf,
  takeItems,
  type WatchState,
} from './watch-state.ts'

const low = readRecord(sent(records.diff))
const high = readRecord(sent(records.call))
const question = readRecord(
  sent({ ...records.call, kind: 'question', question: { index: 0, effect: 'once', message: 'Which?', schema: {} } }),
)
const asked = readRecord(sent(records.prompt))
const waiting = readRecord(sent(records.standby))
const silent = readRecord(sent(records.alert))

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
  /** What is sent to which path. */
  const answered = (effect: ReturnType<typeof press>['effect']) =>
    effect?.type === 'answer' ? [effect.action.request.path, effect.action.name, effect.text] : effect

  const [change, prompt, wait, alert] = [
    `/approvals/${ids.diff}`,
    `/prompts/${ids.prompt}`,
    `/waits/${ids.wait}`,
    `/alerts/${ids.alert}`,
  ]
  test.each([
    [[low], ['q'], { type: 'quit', interrupted: false }],
    [[low], ['r', 'x', '^c'], { type: 'quit', interrupted: true }],
    [[low], ['a'], [change, 'approve', '']],
    [[low], ['r', 'n', 'o', 'return'], [change, 'reject', 'no']],
    [[low], ['r', 'x', 'backspace', 'return'], [change, 'reject', '']],
    [[low], ['r', 'escape', 'return'], { type: 'open', row: [low] }],
    [[low], ['e'], { type: 'edit', item: low }],
    [[low], ['d'], { type: 'open', row: [low] }],
    [[low], ['n'], null],
    [
      [low, asked],
      ['down', 'c', 'return'],
      [prompt, 'continue', ''],
    ],
    [[low, asked], ['down', 'c', 'escape', 'y'], null],
    [
      [low, asked],
      ['j', 'k', 'j', 'f', 'o', 'return'],
      [prompt, 'refine', 'o'],
    ],
    [[low, asked], ['j', 'f', 'return'], null],
    [
      [low, asked],
      ['j', 'x', 'return'],
      [prompt, 'stop', ''],
    ],
    [[low, asked], ['j', 'a'], null],
    [[waiting], ['c', 'o', 'return'], [wait, 'resume', 'o']],
    [[waiting], ['x', 'y'], [wait, 'stop', '']],
    [[waiting], ['x', 'return'], null],
    [[silent], ['n', 'return'], [`${alert}/nudge`, 'nudge', '']],
    [[silent], ['n', 'u', 'p', 'return'], [`${alert}/nudge`, 'nudge', 'up']],
    [[silent], ['i'], [`${alert}/dismiss`, 'dismiss', '']],
    [[silent], ['x', 'y'], [`${alert}/stop`, 'stop', '']],
    [[silent], ['s', 'h', 'i', 'return'], { type: 'steer', item: silent, text: 'hi' }],
    [[silent], ['s', 'return'], null],
    [[], ['a'], null],
    [[], ['down'], null],
    [[low], ['?', 'a'], null],
    // A risky one is opened before anybody can say yes to it. A no needs no reading.
    [[high], ['a'], { type: 'open', row: [high] }],
    [[high], ['r', 'return'], [`/approvals/${ids.call}`, 'reject', '']],
    [[question], ['a'], { type: 'respond', item: question }],
    [[question], ['e'], null],
  ] as const)('%#', (items, keys, effect) => {
    expect(answered(press(watching(...items), ...keys).effect)).toEqual(effect)
  })

  test('each action of a record has its own, and the help says which', () => {
    for (const item of [low, question, asked, waiting, silent]) {
      const keys = keysOf(item).map(({ key }) => key)
      expect(new Set(keys).size).toBe(item.view.actions.length)
      const help = screenLines(resize(press(watching(item), '?').state, { columns: 200, rows: 40 }), plainStyle)
      for (const { key, action } of keysOf(item)) {
        expect(help).toContain(`${key.padEnd(16)}${action.label}. ${action.confirm.help}`)
      }
    }
  })
})

test('what is answered while it is fetched is not opened over the next item', () => {
  const { state } = takeItems(watching(low, asked), [asked])

  expect(openRecord(state, [low], ['text'])).toEqual({
    ...state,
    notice: 'It waits no longer: somebody answered, or its time was over.',
  })
})

describe('what is risky', () => {
  const long = Array.from({ length: 35 }, (_, n) => `+line ${n}`)

  test('can be approved after all of it has been on the screen, page by page', () => {
    const open = openRecord(watching(high), [high], long)
    expect(press(open, 'a').state.notice).toBe('Read it to the last line (space), then press a.')
    expect(press(open, 'space', 'space', 'a').effect).toBe(null)
    expect(press(open, 'space', 'space', 'space', 'a').effect).toMatchObject({
      type: 'answer',
      row: [high],
      action: { name: 'approve' },
    })
    // The list knows it too.
    expect(press(open, 'space', 'space', 'space', 'q', 'a').effect).toMatchObject({
      type: 'answer',
      row: [high],
      action: { name: 'approve' },
    })
  })

  test('does not count as seen after a jump to its end, or when it is another one by then', () => {
    const open = openRecord(watching(high), [high], long)
    expect(press(open, 'end', 'a').effect).toBe(null)
    expect(press(open, 'G', 'a').effect).toBe(null)
    const seen = press(open, 'space', 'space', 'space').state
    const changed = { ...high, digest: 'another' }
    expect(press(takeItems(seen, [changed]).state, 'q', 'a').effect).toEqual({
      type: 'open',
      row: [changed],
    })
  })

  test('is not cut off at the edge of the screen', () => {
    const open = openRecord(watching(high), [high], [`+${'x'.repeat(1_000)}evil()`])
    expect(open.seen.size).toBe(0)
    expect(open.view.type === 'record' && open.view.lines.map(({ text }) => text).join('')).toMatch(/x{1000}evil\(\)$/)
    expect(press(resize(open, { columns: 200, rows: 40 }), 'a').effect?.type).toBe('answer')
  })
})

describe('what is critical', () => {
  test('is approved after a look and a typed yes that names the action', () => {
    const push = readRecord(
      sent({ ...records.call, risk: 'critical', riskWhy: 'rewrites history', action: 'Force-push to origin/main' }),
    )
    expect(press(watching(push), 'a').effect?.type).toBe('open')
    const open = openRecord(watching(push), [push], ['text'])
    const asking = press(open, 'a')
    expect([asking.effect, screenLines(asking.state, plainStyle).at(-1)]).toEqual([
      null,
      'Force-push to origin/main? Critical: type yes: _',
    ])
    expect(press(asking.state, 'y', 'return')).toMatchObject({ effect: null, state: { notice: 'Left as it is.' } })
    expect(press(asking.state, 'y', 'e', 's', 'return').effect).toMatchObject({ type: 'answer', row: [push] })
    expect(screenLines(open, plainStyle).at(-1)).toBe('? help  a force-push to origin/main  r reject  d look')
  })
})

describe('alike items of low risk', () => {
  const alike = (n: number, more: object = {}) => {
    const record = readRecord(
      sent({
        ...records.call,
        id: `0192f3b1-1111-7def-8abc-0000000001${String(n).padStart(2, '0')}`,
        risk: 'low',
        title: `Bash: npm test part-${n}`,
        digest: `digest-${n}`,
      }),
    )
    return { ...record, view: { ...record.view, warnings: [], group: 'npm test', ...more } }
  }
  const three = [1, 2, 3].map((n) => alike(n))
  const idsOf = (row: readonly ShownRecord[]) => row.map(({ view }) => view.id)

  test('are one row, with every one of them on the screen, and decided by one key', () => {
    const state = resize(watching(asked, ...three), { columns: 60, rows: 16 })
    const { effect, state: left } = press(state, 'j', 'a')
    expect(effect).toMatchObject({ type: 'answer', action: { name: 'approve' }, text: '' })
    expect(effect?.type === 'answer' && idsOf(effect.row)).toEqual(idsOf(three))
    const lines = screenLines(press(state, 'j').state, plainStyle)
    expect(lines.filter((line) => /part|3x/.test(line))).toEqual([
      '> 0101 09:04 low      claude-code shop  3x Bash: npm tes...',
      'Bash: npm test part-1',
      'Bash: npm test part-2',
      'Bash: npm test part-3',
    ])
    // What comes next takes the place of all of them.
    expect(takeItems(left, [asked]).state.selected).toBe(ids.prompt)
  })

  test('are looked at first if the screen has no space for all of them, or one is not shown whole', () => {
    const many = [alike(0), ...Array.from({ length: 8 }, (_, n) => alike(n + 1))] as const
    const { effect } = press(watching(...many), 'a')
    expect(effect?.type === 'open' && idsOf(effect.row)).toEqual(idsOf(many))
    const open = openRecord(watching(...many), many, ['text'])
    expect(press(open, 'a').effect?.type).toBe('answer')
    // One more has come: nobody has looked at that.
    expect(press(takeItems(open, [...many, alike(10)]).state, 'q', 'a').effect?.type).toBe('open')
    expect(press(watching(alike(1, { title: 'Bash: x…' })), 'a').effect?.type).toBe('open')
  })

  test('never count as one if they are risky', () => {
    const risky = three.map((one) => ({ ...one, view: { ...one.view, risk: { level: 'high', why: null } as const } }))
    expect(rowsOf(watching(...risky))).toHaveLength(3)
  })
})

describe('remember', () => {
  const offer = {
    yes: true,
    scopes: ['session' as const, '15m' as const, 'workspace' as const],
    matches: [
      { label: 'This command', match: { type: 'command' as const, command: 'npm test', folder: '.' } },
      { label: 'Commands that begin with npm test', match: { type: 'begins' as const, words: ['npm', 'test'] } },
    ],
  }
  const offered = { ...low, view: { ...low.view, remember: offer } }

  test('takes what the server offers, with numbers, for a yes or a no', () => {
    const menu = press(watching(offered), 'm').state
    expect(screenLines(menu, plainStyle).slice(1, 5)).toEqual([
      'Remember your answer for what?',
      '',
      '1  This command',
      '2  Commands that begin with npm test',
    ])
    const last = press(menu, '2', '3').state
    expect(screenLines(last, plainStyle).slice(1, 6)).toEqual([
      'Commands that begin with npm test, in this workspace, until',
      ' revoked:',
      '',
      'a  approve, and so from now on',
      'r  reject, and so from now on',
    ])
    const more = { remember: 'workspace', grant: { match: offer.matches[1]?.match } }
    expect(press(last, 'a').effect).toMatchObject({ type: 'answer', action: { name: 'approve' }, more })
    expect(press(last, 'r').effect).toMatchObject({ type: 'answer', action: { name: 'reject' }, more })
  })

  test('decides nothing with another key, and needs the look that a yes needs', () => {
    expect(press(watching(offered), 'm', '9').effect).toBe(null)
    expect(press(watching(offered), 'm', '1', 'a').effect).toBe(null)
    expect(press(watching(low), 'm').state.notice).toBe('Nothing can be remembered with this.')
    const risky = { ...high, view: { ...high.view, remember: offer } }
    expect(press(watching(risky), 'm').effect?.type).toBe('open')
  })
})

describe('a list that changes', () => {
  test('says nothing about what this person has answered', () => {
    const open = openRecord(watching(low, asked), [low], ['text'])
    const { state, effect } = press(open, 'a')
    expect([effect?.type, takeItems(state, [asked]).state.notice]).toEqual(['answer', ''])
  })

  test('keeps the selection, and moves it to what took its place', () => {
    const state = press(watching(low, asked, silent), 'down').state
    expect(takeItems(state, [high, low, asked, silent])).toMatchObject({ isNew: true, state: { selected: ids.prompt } })
    expect(takeItems(state, [low, silent])).toMatchObject({ isNew: false, state: { selected: ids.alert } })
    expect(takeItems(state, []).state.selected).toBe(null)
  })

  test('takes back a question about something that somebody else has answered', () => {
    const state = press(watching(low, asked), 'r').state
    const gone = takeItems(state, [asked]).state
    expect([gone.input, gone.notice]).toEqual([null, 'It waits no longer: somebody answered, or its time was over.'])
    expect(press(gone, 'return').effect?.type).toBe('open')
    const open = openRecord(watching(low, asked), [low], ['text'])
    expect(takeItems(open, [asked]).state.view).toEqual({ type: 'list' })
  })
})

describe('the screen', () => {
  test('has what speaks against the selected item, before anybody answers it', () => {
    const warned = { ...low, view: { ...low.view, warnings: ['Look closely.\u001b[2J'] } }
    expect(screenLines(watching(warned), plainStyle).join('\n')).toContain('Look closely.<U+001B>[2J')
  })

  const hostile = readRecord(
    sent({
      ...records.diff,
      title: `\x1b[2J\x1b]0;owned\x07${'wide 漢字 '.repeat(50)}\nquarterdeck: approved`,
      supervised: elsewhere,
    }),
  )

  test.each([size, { columns: 20, rows: 4 }, { columns: 1, rows: 1 }])('always fits into %j', (room) => {
    const states = [
      watching(),
      watching(hostile, high, asked, silent),
      press(watching(hostile), 'r', ...'a very long reason that does not fit').state,
      press(watching(hostile), 'a').state,
      press(watching(hostile), '?').state,
      openRecord(watching(hostile), [hostile], ['+one', `-${'漢'.repeat(100)}`]),
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
      readRecord(
        sent(
          {
            ...records.call,
            id: `0192f3b1-1111-7def-8abc-00000000000${n}`,
            supervised: { ...elsewhere, host: `agent-${agent}` },
            ...more,
          },
          { folder: `/srv/shop-${agent}` },
        ),
      )
    const refund = (n: number, agent: number, amount: number) =>
      ask(n, agent, { kind: 'tool_call', tool: 'refund', description: `order: 7\namount: ${amount}` })
    const policy = (n: number, agent: number) =>
      ask(n, agent, { kind: 'policy', title: 'Accept the policy policy.json' })
    const items = [refund(1, 1, 100), refund(2, 1, 1000), refund(3, 2, 100), policy(4, 1), policy(5, 2), policy(6, 3)]
    const state = takeItems(firstState({ columns: 81, rows: 14 }), items).state

    expect(screenLines(state, plainStyle).slice(1, 10)).toEqual([
      '> 0001 09:04 high     agent-1 shop-1  refund (order: 7, amount: 100)  Shop',
      '  0002 09:04 high     agent-1 shop-1  refund (order: 7, amount: 1000)  Shop',
      '  0003 09:04 high     agent-2 shop-2  refund (order: 7, amount: 100)  Shop',
      '  0004 09:04 high     agent-1 shop-1  Accept the policy policy.json  Shop',
      '  0005 09:04 high     agent-2 shop-2  Accept the policy policy.json  Shop',
      '  0006 09:04 high     agent-3 shop-3  Accept the policy policy.json  Shop',
      '',
      'Tool call  agent-1  /srv/shop-1',
      'refund (order: 7, amount: 100)',
    ])
  })

  test('shows what waits and which keys there are', () => {
    expect(screenLines(watching(low, high), plainStyle)).toEqual([
      'Quarterdeck  2 wait  (times in UTC)',
      '> 0001 09:04 low      claude-code shop  Change src/a.ts ...',
      '  0002 09:04 high     claude-code shop  Bash: rm -rf build',
      '',
      'Change of a file  claude-code  /home/ada/shop',
      'Change src/a.ts +1 −1 (Faster search)',
      'The diff is gone. Reject it, and let the agent ask again.',
      'task       Shop',
      ...Array.from({ length: 3 }, () => ''),
      '? help  a approve  r reject  d look  e edit  s steer',
    ])
  })
})
