import { describe, expect, test } from 'vitest'
import { parseCommand } from './parse-command.ts'

const parse = (line: string) => {
  const { verb, name, options, words, text, lead } = parseCommand(line, ['test', 'lint-all'])
  return { verb, name, options: Object.fromEntries(options), words, text, lead }
}
const words = (line: string) => {
  const { words: found, options } = parse(line)
  return [found, options]
}
const text = (line: string) => {
  const { text: found, options } = parse(line)
  return [found, options]
}

describe('a line', () => {
  test('names a verb or an alias, as phones write it', () => {
    expect(parse('sessions')).toEqual({
      verb: 'sessions',
      name: 'sessions',
      options: {},
      words: [],
      text: '',
      lead: null,
    })
    expect(parse('  Sessions ')).toMatchObject({ verb: 'sessions' })
    expect(parse('Session–Start go')).toMatchObject({ verb: 'session-start', text: 'go' })
    expect(parse('lint-all')).toMatchObject({ verb: null, name: 'lint-all' })
    expect(parse('Test')).toMatchObject({ verb: null, name: 'test' })
    expect(parse('')).toMatchObject({ verb: 'help' })
    expect(parse(' \n ')).toMatchObject({ verb: 'help' })
  })

  test.each([
    ['sesions', 'There is no command "sesions". Did you mean sessions? Type help to see them all.'],
    ['tset', 'There is no command "tset". Did you mean test? Type help to see them all.'],
    ['frobnicate now', 'There is no command "frobnicate". Type help to see them all.'],
    ['constructor', 'There is no command "constructor". Type help to see them all.'],
    ['__proto__', 'There is no command "__proto__". Type help to see them all.'],
    ['\u202ehelp', 'There is no command "<U+202E>help". Did you mean help? Type help to see them all.'],
  ])('%j is unknown', (line, message) => {
    expect(() => parse(line)).toThrow(message)
  })
})

describe('words', () => {
  test('are separated by blanks of any kind, and joined by quotes of any kind', () => {
    expect(words('show-file src/a.ts')).toEqual([['src/a.ts'], {}])
    expect(words('show-file "my file.ts"')).toEqual([['my file.ts'], {}])
    expect(words("show-file 'my file.ts'")).toEqual([['my file.ts'], {}])
    expect(words('show-file “my file.ts”')).toEqual([['my file.ts'], {}])
    expect(words('show-file „my file.ts“')).toEqual([['my file.ts'], {}])
    expect(words('show-file ‘my file.ts’\u00a0b')).toEqual([['my file.ts', 'b'], {}])
    expect(words('show-file it’s.ts')).toEqual([['it’s.ts'], {}])
    expect(words('show-file ‘it’s here.ts’')).toEqual([['it’s here.ts'], {}])
    expect(words('list-files ""')).toEqual([[''], {}])
  })

  test('stand beside options, in any order', () => {
    expect(words('show-file --lines 10:20 a.ts --session 019a')).toEqual([
      ['a.ts'],
      { lines: '10:20', session: '019a' },
    ])
    expect(words('show-file a.ts —lines 10:20')).toEqual([['a.ts'], { lines: '10:20' }])
    expect(words('show-file a.ts –Lines=“10:20”')).toEqual([['a.ts'], { lines: '10:20' }])
    expect(words('list-files "--depth"')).toEqual([['--depth'], {}])
    expect(words('list-files - -x —')).toEqual([['-', '-x', '—'], {}])
  })

  test.each([
    [
      'show-file a --line 3',
      'show-file has no option --line. Did you mean --lines? Write: show-file PATH [--lines A:B]',
    ],
    ['sessions --wat 1', 'sessions has no option --wat. Write: sessions'],
    ['list-files --depth', '--depth needs a value.'],
    ['list-files --depth=', '--depth needs a value.'],
    ['list-files --depth 1 --depth 2', '--depth is there twice.'],
    ['show-file "a b', 'A quote is never closed.'],
    ['test --watch x', 'test has no option --watch.'],
  ])('%j is refused', (line, message) => {
    expect(() => parse(line)).toThrow(message)
  })
})

describe('a text', () => {
  test('stays as it was typed', () => {
    expect(text('steer Don’t touch the “old” API — use "v2"')).toEqual(['Don’t touch the “old” API — use "v2"', {}])
    expect(text('steer first\n\nsecond  line')).toEqual(['first\n\nsecond  line', {}])
    expect(text('steer "foo" and "bar"')).toEqual(['"foo" and "bar"', {}])
    expect(text('steer "never closed')).toEqual(['"never closed', {}])
    expect(text('steer run it with --watch')).toEqual(['run it with --watch', {}])
    expect(text('steer use --session ids in the log')).toEqual(['use --session ids in the log', {}])
  })

  test('loses the quotes around the whole of it', () => {
    expect(text('steer “use the new API”')).toEqual(['use the new API', {}])
    expect(text('steer "do it --session 019a"')).toEqual(['do it --session 019a', {}])
  })

  test('has options before and after it', () => {
    expect(text('session-start Fix the login —workspace shop --host codex')).toEqual([
      'Fix the login',
      { workspace: 'shop', host: 'codex' },
    ])
    expect(text('session-start --workspace "my shop" “Fix it”')).toEqual(['Fix it', { workspace: 'my shop' }])
    expect(text('steer go on --session=019a')).toEqual(['go on', { session: '019a' }])
    expect(text('steer')).toEqual(['', {}])
    expect(text('steer --session 019a')).toEqual(['', { session: '019a' }])
  })

  test.each([
    ['steer --sesion 019a do it', 'steer has no option --sesion. Did you mean --session?'],
    ['session-start fix it --workspce shop', 'Did you mean --workspace?'],
    ['steer do it --session', '--session needs a value.'],
    ['steer --session 1234 do it --session 5678', '--session is there twice.'],
    ['steer --verbose do it', 'steer has no option --verbose.'],
  ])('%j is refused', (line, message) => {
    expect(() => parse(line)).toThrow(message)
  })

  test('may begin with the start of an id', () => {
    expect(parse('steer 019a-bc “do it”').lead).toEqual({ id: '019a-bc', text: 'do it' })
    expect(parse('session-checkpoint 019abcde').lead).toEqual({ id: '019abcde', text: '' })
    expect(parse('steer dead code goes').lead).toEqual({ id: 'dead', text: 'code goes' })
    expect(parse('steer 019 do').lead).toBe(null)
    expect(parse('steer "019abcde do it"').lead).toBe(null)
  })
})

test('a long hostile line is parsed at once', () => {
  const before = process.threadCpuUsage()
  for (const piece of ['"', '“a ', '--x ', "' ", '\u00a0', '-']) {
    try {
      parse(`steer ${piece.repeat(10_000)}`)
    } catch {}
  }
  expect(process.threadCpuUsage(before).user).toBeLessThan(10_000_000)
})
