import { describe, expect, test } from 'vitest'
import type { Approval } from '../../domain/records/record.ts'
import { sha256 } from '../../json/digest.ts'
import { approval } from '../testing/approval.ts'
import { shownCall } from './shown-call.ts'

const about = (args: object, values: Partial<Approval> = {}): Approval => ({
  ...approval,
  arguments: JSON.stringify(args),
  ...values,
})
const one = (value: unknown, name = 'text') => shownCall(about({ [name]: value })).arguments[0]
const plain = { isJson: false, isSecret: false, hidden: 0, cut: null }

/** Each stands between two letters: the characters, and how they are shown. */
const probes: [name: string, text: string, shown: string][] = [
  ['variation selector 17', '\u{e0100}', '<U+E0100>'],
  ['Hangul filler', '\u3164', '<U+3164>'],
  ['halfwidth Hangul filler', '\uffa0', '<U+FFA0>'],
  ['Braille blank', '\u2800', '<U+2800>'],
  ['no-break space', '\u00a0', '<U+00A0>'],
  ['ideographic space', '\u3000', '<U+3000>'],
  ['narrow no-break space', '\u202f', '<U+202F>'],
  ['zero width space', '\u200b', '<U+200B>'],
  ['zero width joiner', '\u200d', '<U+200D>'],
  ['right-to-left override', '\u202e', '<U+202E>'],
  ['right-to-left isolate', '\u2067', '<U+2067>'],
  ['tag', '\u{e0041}', '<U+E0041>'],
  ['variation selector 1', '\ufe00', '<U+FE00>'],
  ['soft hyphen', '\u00ad', '<U+00AD>'],
  ['byte order mark', '\ufeff', '<U+FEFF>'],
  ['line separator', '\u2028', '<U+2028>'],
  ['paragraph separator', '\u2029', '<U+2029>'],
  ['escape', '\u001b', '<U+001B>'],
  ['next line', '\u0085', '<U+0085>'],
  ['carriage return', '\r', '<U+000D>'],
  ['40 blanks', ' '.repeat(40), '<U+0020×40>'],
  ['text that looks like a mark', '<U+202E>', '<U+003C>U+202E>'],
]

describe('a call as it is shown', () => {
  test.each(probes)('marks %s in texts, in names and inside lists', (_, text, shown) => {
    const value = `a${text}b`
    const hidden = shown.startsWith('<U+003C>') ? 0 : 1
    expect(one(value)).toMatchObject({ text: `a${shown}b`, hidden })
    expect(shownCall(about({ [value]: 1 })).arguments[0]?.name).toBe(value.includes('\r') ? 'a<U+000D>b' : `a${shown}b`)
    const listed = one([value])
    // JSON has its own escapes for controls.
    expect(listed?.text).toMatch(/^\[\n {2}"a(<U\+[^>]+>(U\+202E>)?|\\u001b|\\r)b"\n\]$/)
    expect(listed?.isJson).toBe(true)
  })

  test('keeps the lines of a text, and writes everything else as JSON over several lines', () => {
    expect(one('one\n\ttwo\n')).toEqual({ name: 'text', text: 'one\n\ttwo\n', ...plain, bytes: 9 })
    expect(one({ a: [1, 'x\ny'] })).toEqual({
      name: 'text',
      text: '{\n  "a": [\n    1,\n    "x\\ny"\n  ]\n}',
      ...plain,
      isJson: true,
      bytes: 34,
    })
    expect(one(null)?.text).toBe('null')
  })

  test('masks secrets at every depth, and says that there are some', () => {
    const deep = Array.from({ length: 50 }).reduce<unknown>((inner) => ({ inner }), { api_key: 'sk-1' })
    const { arguments: shown } = shownCall(about({ password: 'p1', deep, to: 'ann', list: [{ token: 'p2', n: 1 }] }))
    expect(shown.map(({ name, isSecret }) => [name, isSecret])).toEqual([
      ['password', true],
      ['deep', true],
      ['to', false],
      ['list', true],
    ])
    expect(JSON.stringify(shown)).not.toMatch(/sk-1|p1|p2/)
    expect(shown[0]).toMatchObject({ text: '[masked]', isJson: false, bytes: 8 })
  })

  test('counts the hidden characters of a secret without showing it', () => {
    expect(one('x\u200by', 'token')).toMatchObject({ text: '[masked]', hidden: 1 })
    expect(shownCall(about({ token: 'x\u200by' })).warnings).toEqual([
      'The arguments have hidden characters. They are written as marks, such as <U+202E>.',
    ])
  })

  test('says what it cuts, and cuts nothing where everything is asked for', () => {
    const long = 'é'.repeat(150_000)
    expect(one(long)).toMatchObject({
      text: 'é'.repeat(100_000),
      bytes: 300_000,
      cut: { shownBytes: 200_000, sha256: sha256(long) },
    })
    expect(shownCall(about({ long }), { isWhole: true }).arguments[0]).toMatchObject({ text: long, cut: null })
    expect(one('x'.repeat(200_000))?.cut).toBe(null)
    // A character that does not fit is left out whole.
    expect(one(`${'x'.repeat(199_998)}😀`)?.text).toBe('x'.repeat(199_998))
  })

  test('a text of megabytes is shown whole', () => {
    const text = 'a\u202eb日本 👩‍💻\n'.repeat(50_000)
    const [shown] = shownCall(about({ text }), { isWhole: true }).arguments
    expect(shown?.text.startsWith('a<U+202E>b日本 👩‍💻\n')).toBe(true)
    expect(shown?.cut).toBe(null)
  })

  test('never comes from the description, and shows what an operator edited', () => {
    const edited = about({ to: 'ann' }, { description: 'to: bob', editedArguments: '{"to":"eve"}' })
    expect(shownCall(edited).arguments).toEqual([{ name: 'to', text: 'eve', ...plain, bytes: 3 }])
  })

  test('warns of letters that look like others', () => {
    expect(shownCall(about({ url: 'https://p\u0430y.com', password: 'p\u0430ss/x' })).warnings).toEqual([
      'Look closely: "https://p<U+0430>y.com" has letters that look like others.',
    ])
  })

  test('has the warnings of a change, and says that a part of the arguments is missing', () => {
    const change = {
      path: 'a.sh',
      kind: 'modify' as const,
      addedLines: 1,
      removedLines: 1,
      warnings: ['The file stays executable.'],
      protectedBecause: 'It runs in CI.',
      hasHiddenText: true,
    }
    const asked = { host: 'h', contentKey: 'k', returnedAt: null, mayForce: false, isEdited: false, appliedAt: null }
    expect(shownCall(about({}, { kind: 'diff', supervised: { ...asked, change } })).warnings).toEqual([
      'The file stays executable.',
      'The change hides characters. They are written as marks, such as <U+202E>.',
      'Protected: It runs in CI.',
    ])
    const partly = about({ a: 1 }, { kind: 'permission', digest: 'of more', supervised: { ...asked, change: null } })
    expect(shownCall(partly).warnings).toEqual([
      'The arguments are too long to be kept here. Only a part of them is shown.',
    ])
  })
})
