import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLogger, type LoggerOptions } from './logger.ts'

const plain = { render: null, tap() {}, colors: false }

function setUp(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const now = () => Date.UTC(2026, 10, 1, 12, 30, 0, 123)
  const log = createLogger({
    level: 'info',
    format: 'json',
    write,
    now,
    content: false,
    secrets: [],
    ...plain,
    ...options,
  })
  return { log, lines }
}

const ONE_PLAIN_LINE = /^[^\p{Cc}\u2028-\u202e\u2066-\u2069]*\n$/u

describe('logger', () => {
  test('writes one JSON line with time, level, message and fields', () => {
    const { log, lines } = setUp()

    log.with({ correlation_id: 'c-1' }).info('request', { status: 200, latency_ms: 1.5, run_id: undefined })

    expect(lines).toEqual([
      '{"time":"2026-11-01T12:30:00.123Z","level":"info","message":"request","correlation_id":"c-1","status":200,"latency_ms":1.5}\n',
    ])
  })

  test('a field cannot replace the time, level or message', () => {
    const { log, lines } = setUp()

    log.warn('real', { level: 'debug', message: 'forged', time: 'never' })

    expect(lines).toEqual(['{"time":"2026-11-01T12:30:00.123Z","level":"warn","message":"real"}\n'])
  })

  test('leaves out what is below its level', () => {
    const { log, lines } = setUp({ level: 'warn' })

    log.debug('no')
    log.info('no')
    log.warn('yes')
    log.error('yes')

    expect(lines.map((line) => JSON.parse(line).level)).toEqual(['warn', 'error'])
  })

  test.each(['json', 'text'] as const)('no text can start a second %s line or control a terminal', (format) => {
    const { log, lines } = setUp({ format })

    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        lines.length = 0
        log.info(text, { text, nested: { [text]: [text] } })
        expect(lines).toHaveLength(1)
        expect(lines[0]).toMatch(ONE_PLAIN_LINE)
      }),
    )
    log.info('a\r\n{"level":"error"}\x1b[2J\x9b31m\u2028\u202e')
    expect(lines.at(-1)).toContain('a\\r\\n')
    expect(lines.at(-1)).toMatch(ONE_PLAIN_LINE)
  })

  test('masks known secrets, text that looks like a key, and fields with the name of a secret', () => {
    const { log, lines } = setUp({ secrets: ['hunter2!'] })

    log.info('with hunter2!', {
      header: 'Bearer abcdefgh',
      deep: [{ api_key: 'short', openaiApiKey: 'x', key: 'sk-12345678', 'X-Quarterdeck-Passphrase': 'a b' }],
    })

    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '2026-11-01T12:30:00.123Z',
      level: 'info',
      message: 'with [masked]',
      header: 'Bearer [masked]',
      deep: [
        {
          api_key: '[masked]',
          openaiApiKey: '[masked]',
          key: '[masked]',
          'X-Quarterdeck-Passphrase': '[masked]',
        },
      ],
    })
  })

  test('content is written only if enabled', () => {
    const off = setUp()
    const on = setUp({ content: true })

    for (const { log } of [off, on]) log.info('said', { content: 'hello', nested: { content: 'there' } })

    expect(off.lines[0]).toContain('"message":"said","nested":{}}')
    expect(on.lines[0]).toContain('"content":"hello","nested":{"content":"there"}')
  })

  test('an error shows name, message and cause, and its stack only at level debug', () => {
    const error = new TypeError('broken', { cause: new Error('sk-abcdefgh1234') })
    const info = setUp()
    const debug = setUp({ level: 'debug' })

    for (const { log } of [info, debug]) log.error('failed', { error })

    expect(JSON.parse(info.lines[0] ?? '').error).toEqual({
      name: 'TypeError',
      message: 'broken',
      cause: 'Error: [masked]',
    })
    expect(JSON.parse(debug.lines[0] ?? '').error.stack).toMatch(/^TypeError: broken\n {4}at /)
  })

  test('fields that are not JSON or too large are dropped, but the line stays', () => {
    const { log, lines } = setUp()
    const circle: Record<string, unknown> = {}
    circle.self = circle

    log.info('circle', { circle, correlation_id: 'c-1' })
    log.info('big', { text: 'x'.repeat(10_000), number: 10n })
    log.info('many', { list: Array.from({ length: 20_000 }, () => 'item') })

    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { message: 'circle', correlation_id: 'c-1', log_error: 'fields are not JSON' },
      { message: 'big', text: `${'x'.repeat(4_096)}… (10000 characters)`, number: '10' },
      { message: 'many', log_error: '140076 characters' },
    ])
  })

  test('a text line is readable, and colored if enabled', () => {
    const plain = setUp({ format: 'text' })
    const painted = setUp({ format: 'text', colors: true })

    for (const { log } of [plain, painted]) log.warn('slow answer', { route: '/runs/:id', note: 'a b', n: 3 })

    expect(plain.lines).toEqual(['12:30:00.123 WARN  slow answer route=/runs/:id note="a b" n=3\n'])
    expect(painted.lines).toEqual(['\x1b[33m12:30:00.123 WARN  slow answer route=/runs/:id note="a b" n=3\x1b[0m\n'])
  })
})
