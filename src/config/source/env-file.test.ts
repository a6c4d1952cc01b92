import { describe, expect, test } from 'vitest'
import { createMemoryFiles } from '../testing/memory-files.ts'
import { parseEnvFile, readEnvironment } from './env-file.ts'

const parse = (text: string) => {
  const { variables, issues } = parseEnvFile('.env', text)
  return { variables: Object.fromEntries(variables), issues }
}

describe('a .env file', () => {
  test('has lines of NAME=value, with quotes, comments and export', () => {
    const text = [
      '# a comment',
      '',
      'PLAIN=value',
      '  SPACED = some value   # a comment',
      'HASH=a#b',
      'EMPTY=',
      'NOTHING= # only a comment',
      "SINGLE='as $is \\n'  # a comment",
      'DOUBLE="line\\nline \\"quoted\\" \\$5 c:\\\\x \\q"',
      'export EXPORTED=yes',
      'URL=https://x/?a=b=c',
      'TWICE=1',
      'TWICE=2',
    ].join('\r\n')
    expect(parse(text)).toEqual({
      variables: {
        PLAIN: 'value',
        SPACED: 'some value',
        HASH: 'a#b',
        EMPTY: '',
        NOTHING: '',
        SINGLE: 'as $is \\n',
        DOUBLE: 'line\nline "quoted" $5 c:\\x \\q',
        EXPORTED: 'yes',
        URL: 'https://x/?a=b=c',
        TWICE: '2',
      },
      issues: [],
    })
  })

  test('can have values of several lines, and still counts lines correctly', () => {
    const text = 'PEM="-----BEGIN\nabc\n-----END"\nAFTER=1\nwrong line\n'
    expect(parse(text)).toEqual({
      variables: { PEM: '-----BEGIN\nabc\n-----END', AFTER: '1' },
      issues: [{ file: '.env', line: 5, column: 1, path: '', message: 'expected NAME=value or a # comment.' }],
    })
  })

  test('reports what it cannot read without repeating it, and reads the rest', () => {
    const text = "sk-secret\nA=\"never ends\nB='x' y\n1C=2\nD=fine"
    const result = parse(text)
    expect(result.variables).toEqual({ D: 'fine' })
    expect(result.issues.map(({ line, message }) => [line, message])).toEqual([
      [1, 'expected NAME=value or a # comment.'],
      [2, 'the value of A starts with " but has no closing ".'],
      [3, "there is text after the closing ' of B."],
      [4, 'expected NAME=value or a # comment.'],
    ])
    expect(JSON.stringify(result.issues)).not.toContain('secret')
  })

  test('loses against the real environment, unless that variable is empty', () => {
    const files = createMemoryFiles({ '/a/.env': 'ONE=file\nTWO=file\nTHREE=file\n' })
    expect(readEnvironment('/a', { ONE: 'real', TWO: '', OTHER: 'real' }, files)).toEqual({
      env: { ONE: 'real', TWO: 'file', THREE: 'file', OTHER: 'real' },
      issues: [],
    })
  })

  test('may be missing', () => {
    expect(readEnvironment('/a', { ONE: 'real' }, createMemoryFiles({}))).toEqual({ env: { ONE: 'real' }, issues: [] })
  })

  test('that is not text is reported', () => {
    const files = createMemoryFiles({ '/a/.env': new Uint8Array([0xff, 0xfe, 0x41]) })
    expect(readEnvironment('/a', {}, files).issues).toEqual([
      {
        file: '/a/.env',
        line: null,
        column: null,
        path: '',
        message: 'it is not UTF-8 text. Make it readable, or remove it.',
      },
    ])
  })
})
