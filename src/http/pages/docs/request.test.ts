import { describe, expect, test } from 'vitest'
import * as server from '../../../domain/text/visible-text.ts'
import { curlOf, requestOf } from './request.js'
import { visibleLine, visibleLines } from './visible.js'

const operation = {
  method: 'POST',
  path: '/notes/{id}/{path}',
  parameters: [
    { in: 'path', name: 'id' },
    { in: 'path', name: 'path' },
    { in: 'query', name: 'limit' },
    { in: 'query', name: 'session', schema: { type: 'array' } },
    { in: 'header', name: 'X-On-Busy' },
  ],
}

describe('the request of a form', () => {
  const values = new Map([
    ['path id', 'a/b ?'],
    ['path path', 'x/y z'],
    ['query limit', ''],
    ['query session', 's1, s2'],
    ['header X-On-Busy', 'queue'],
  ])
  const request = requestOf(operation, {
    values,
    type: 'application/json',
    body: '{"say":"it\'s"}',
    token: 'qd_secret',
  })

  test('has every value in its place', () => {
    expect(request).toEqual({
      method: 'POST',
      url: 'notes/a%2Fb%20%3F/x/y%20z?session=s1&session=s2',
      headers: { 'X-On-Busy': 'queue', 'Content-Type': 'application/json', Authorization: 'Bearer qd_secret' },
      body: '{"say":"it\'s"}',
    })
  })

  test('is a command for a shell that never holds the token', () => {
    expect(curlOf(request, 'https://example.com/agent/')).toBe(
      [
        "curl 'https://example.com/agent/notes/a%2Fb%20%3F/x/y%20z?session=s1&session=s2'",
        "-H 'X-On-Busy: queue'",
        "-H 'Content-Type: application/json'",
        '-H "Authorization: Bearer $TOKEN"',
        `-d '{"say":"it'\\''s"}'`,
      ].join(' \\\n  '),
    )
    const form = requestOf(
      { ...operation, method: 'DELETE', parameters: [] },
      {
        values,
        body: [
          ['file', { name: 'a.txt' }],
          ['note', 'x'],
        ],
      },
    )
    expect(curlOf(form, 'http://localhost:1/')).toContain(
      "curl -X DELETE 'http://localhost:1/notes/%7Bid%7D/%7Bpath%7D' \\\n  -F 'file=@a.txt' \\\n  -F 'note=x'",
    )
  })

  test('without a body has none', () => {
    const empty = requestOf({ method: 'GET', path: '/', parameters: [] }, { values, body: '' })
    expect([empty, curlOf(empty, 'http://localhost:1/')]).toEqual([
      { method: 'GET', url: '', headers: {}, body: undefined },
      "curl 'http://localhost:1/'",
    ])
  })
})

describe('what the page shows', () => {
  test('has every hidden character as an escape, as the server writes them', () => {
    const isOdd = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]/u
    const codes = [0, 1, 14].flatMap((plane) => Array.from({ length: 0x10000 }, (_, i) => plane * 0x10000 + i))
    const chars = codes.map((code) => String.fromCodePoint(code)).filter((char, i) => i % 61 === 0 || isOdd.test(char))

    expect(chars.length).toBeGreaterThan(8_000)
    expect(chars.filter((char) => visibleLine(char) !== server.visibleJson(char))).toEqual([])
  })

  test('keeps its lines and their indentation', () => {
    expect(visibleLines(`{\r\n${' '.repeat(50)}"a\u202e": "${' '.repeat(41)}"\n}`)).toBe(
      `{\n${' '.repeat(50)}"a\\u202e": "${'\\u0020'.repeat(41)}"\n}`,
    )
  })
})
