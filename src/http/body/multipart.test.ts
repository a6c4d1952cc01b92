import { describe, expect, test } from 'vitest'
import {
  createManualClock,
  openRaw,
  problemOfText,
  type RawClient,
  route,
  startServer,
  statusOfText,
  type TestServerOptions,
  turn,
  until,
} from '../testing/server-fixture.ts'
import { type MultipartLimits, parseHeader } from './multipart.ts'

interface FormOptions extends Partial<TestServerOptions> {
  form?: Partial<MultipartLimits>
}

/** Answers with the parts, with the content of files as text. */
const start = ({ form, ...more }: FormOptions = {}) =>
  startServer({
    routes: [
      route('POST /form', async (request, reply) => {
        const parts: unknown[] = []
        for await (const part of request.multipart(form)) {
          if (part.kind === 'field') parts.push([part.name, part.value])
          else parts.push([part.name, part.filename, part.mimeType, await textOf(part.content)])
        }
        reply.json(200, parts)
      }),
    ],
    ...more,
  })

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

async function post(url: string, body: string | FormData | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/form`, { method: 'POST', body, headers })
  const content: unknown = await answer.json()
  return { status: answer.status, content }
}

const FORM = { 'content-type': 'multipart/form-data; boundary=b' }
const lines = (...all: string[]): string => all.join('\r\n')
const file = (name: string, content: string, more = ''): string =>
  lines('--b', `Content-Disposition: form-data; name="file"; filename="${name}"${more}`, '', content, '')
const head = (port: number, ...headers: string[]) =>
  lines(
    'POST /form HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: multipart/form-data; boundary=b',
    ...headers,
    '',
    '',
  )

describe('a form', () => {
  test('is read as fetch sends it: fields and files, in order, with any content', async () => {
    await using server = await start()
    const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => i % 256)
    const form = new FormData()
    form.append('message', 'grüße 😀\r\n--b')
    form.append('files', new File([bytes], 'naïve “x”.png', { type: 'image/png' }))
    form.append('empty', '')
    form.append('files', new File([], 'nothing.txt', { type: 'text/plain' }))

    expect(await post(server.url, form)).toEqual({
      status: 200,
      content: [
        // A form uses CRLF.
        ['message', 'grüße 😀\r\n--b'],
        ['files', 'naïve “x”.png', 'image/png', Buffer.from(bytes).toString('latin1')],
        ['empty', ''],
        ['files', 'nothing.txt', 'text/plain', ''],
      ],
    })
  })

  test('is the same however the network splits it', async () => {
    await using server = await start()
    const body = Buffer.from(
      `before\r\n${file('a.txt', 'one\r\n--', '; x=y')}${file('b.bin', '\r\n--bb\r', '')}--b--\r\nbehind\r\n--b`.replace(
        '--bb',
        '--a',
      ),
      'latin1',
    )
    const whole = await post(server.url, body, FORM)
    expect(whole).toEqual({
      status: 200,
      content: [
        ['file', 'a.txt', null, 'one\r\n--'],
        ['file', 'b.bin', null, '\r\n--a\r'],
      ],
    })

    for (const size of [1, 2, 3, 7]) {
      const client = await openRaw(server.port)
      client.socket.setNoDelay(true)
      client.send(head(server.port, 'Transfer-Encoding: chunked', 'Connection: close'))
      for (let i = 0; i < body.length; i += size) {
        const piece = body.subarray(i, i + size)
        client.send(`${piece.length.toString(16)}\r\n`)
        client.send(piece)
        client.send('\r\n')
      }
      client.send('0\r\n\r\n')
      const answer = await client.closed()
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual(whole.content)
    }
  })

  test.each<[string, string]>([
    ['multipart/form-data; boundary="b"', 'b'],
    ['MULTIPART/FORM-DATA; charset=utf-8; BOUNDARY=b', 'b'],
    ['multipart/form-data;boundary=b;', 'b'],
    ['multipart/form-data; boundary="a b;c=\'()+_,./:?"', "a b;c='()+_,./:?"],
    [`multipart/form-data; boundary=${'x'.repeat(200)}`, 'x'.repeat(200)],
  ])('may have the content type %s', async (type, boundary) => {
    await using server = await start()
    const body = lines(`--${boundary}`, 'content-disposition:form-data;name=a', '', 'b', `--${boundary}--`)

    expect(await post(server.url, body, { 'content-type': type })).toEqual({ status: 200, content: [['a', 'b']] })
  })

  test.each<[string, string, unknown[]]>([
    ['no type', 'Content-Disposition: form-data; name="file"; filename="a"', ['file', 'a', null, 'x']],
    [
      'a type with parameters',
      'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: Text/CSV; charset=utf-8',
      ['file', 'a', 'text/csv', 'x'],
    ],
    [
      'an encoded name',
      "Content-Disposition: form-data; name=f; filename=a; filename*=utf-8''%E2%82%AC",
      ['f', '€', null, 'x'],
    ],
    [
      'a name with an invalid encoding',
      "Content-Disposition: form-data; name=f; filename=a; filename*=utf-8''%E2",
      ['f', 'a', null, 'x'],
    ],
    ['a name in Latin-1', 'Content-Disposition: form-data; name=f; filename="\xfc"', ['f', 'ü', null, 'x']],
    [
      'a quote in its name',
      'Content-Disposition: form-data; name=f; filename="say %22hi%22 100%.txt"',
      ['f', 'say "hi" 100%.txt', null, 'x'],
    ],
    ['no name, but content', 'Content-Disposition: form-data; name=f; filename=""', ['f', null, null, 'x']],
    ['a path', 'Content-Disposition: form-data; name=f; filename="../../a\\b"', ['f', '../../a\\b', null, 'x']],
    ['no file', 'Content-Disposition: form-data; name=f\r\nContent-Type: application/json', ['f', 'x']],
  ])('with %s', async (_what, headers, part) => {
    await using server = await start()
    const body = Buffer.from(lines('--b', headers, '', 'x', '--b--', ''), 'latin1')

    expect(await post(server.url, body, FORM)).toEqual({ status: 200, content: [part] })
  })

  test('leaves out an empty file field', async () => {
    await using server = await start()

    expect(await post(server.url, `${file('', '')}${file('a', 'x')}--b--`, FORM)).toEqual({
      status: 200,
      content: [['file', 'a', null, 'x']],
    })
  })

  test('may be empty', async () => {
    await using server = await start()

    expect(await post(server.url, '--b--\r\n', FORM)).toEqual({ status: 200, content: [] })
  })
})

describe('what is not a form', () => {
  test.each([
    ['application/json', 415],
    ['multipart/mixed; boundary=b', 415],
    ['text/plain; multipart/form-data; boundary=b', 415],
    ['multipart/form-data', 400],
    ['multipart/form-data; boundary=', 400],
    ['multipart/form-data; boundary=""', 400],
    [`multipart/form-data; boundary=${'x'.repeat(201)}`, 400],
    ['multipart/form-data; boundary="a\tb"', 400],
  ])('with the content type %j is answered with %i', async (type, status) => {
    await using server = await start()

    expect(await post(server.url, `${file('a', 'x')}--b--`, { 'content-type': type })).toMatchObject({ status })
  })

  test('is refused without a content type, or compressed', async () => {
    await using server = await start()
    const client = await openRaw(server.port)
    client.send(
      lines(
        'POST /form HTTP/1.1',
        `Host: 127.0.0.1:${server.port}`,
        'Content-Length: 2',
        'Connection: close',
        '',
        '{}',
      ),
    )

    expect(problemOfText(await client.closed())).toMatchObject({ code: 'unsupported_media_type' })
    expect(await post(server.url, '--b--', { ...FORM, 'content-encoding': 'gzip' })).toMatchObject({ status: 415 })
  })

  test.each<[string, string]>([
    ['nothing', ''],
    ['no boundary at all', 'hello'],
    ['another boundary', '--c\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--c--'],
    ['half a boundary', '--'],
    ['a boundary without more', '--b'],
    ['a part without an end', file('a', 'x').slice(0, -2)],
    ['a part without a last boundary', file('a', 'x')],
    ['a last boundary with one dash', `${file('a', 'x')}--b-`],
    ['half of the headers', '--b\r\nContent-Disposition: form-da'],
    ['headers without an end', '--b\r\nContent-Disposition: form-data; name="a"\r\n--b--'],
    ['no headers', '--b\r\n\r\nx\r\n--b--'],
    ['no name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--'],
    ['another disposition', '--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--'],
    ['a header that is none', '--b\r\nhello\r\n\r\nx\r\n--b--'],
    ['a line break in a name', '--b\r\nContent-Disposition: form-data; name="a\nb"\r\n\r\nx\r\n--b--'],
    [
      'base64',
      '--b\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\neA==\r\n--b--',
    ],
    ['a field that is no text', '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff\r\n--b--'],
    ['a good part before a bad one', `${file('a', 'x')}--b\r\nhello\r\n--b--`],
    ['a long list of parts without headers', '--b\r\n'.repeat(5_000)],
    [
      'headers that are too long',
      `--b\r\nX: ${'y'.repeat(100_000)}\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--`,
    ],
  ])('%s is answered with 400, and the server goes on', async (_what, body) => {
    await using server = await start()

    expect(await post(server.url, Buffer.from(body, 'latin1'), FORM)).toMatchObject({
      status: 400,
      content: {
        code: 'invalid_request',
        detail: expect.stringMatching(/^The multipart body is malformed\. [A-Z].*\.$/),
      },
    })
    expect(await post(server.url, `${file('a', 'x')}--b--`, FORM)).toMatchObject({ status: 200 })
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('limits of a form', () => {
  const form = { files: 2, totalBytes: 100_000, fields: 3, fieldBytes: 1_000 }
  const field = (bytes: number) => lines('--b', 'Content-Disposition: form-data; name="a"', '', 'x'.repeat(bytes), '')

  test('all files together may have the allowed size, and not a byte more', async () => {
    await using server = await start({ form })
    const body = (second: number) => `${file('a', 'x'.repeat(60_000))}${file('b', 'x'.repeat(second))}--b--`

    expect(await post(server.url, body(40_000), FORM)).toMatchObject({ status: 200 })
    expect(await post(server.url, body(40_001), FORM)).toMatchObject({
      status: 413,
      content: { code: 'file_too_large', max_bytes: 100_000, detail: 'The files are larger than 0.1 MB together.' },
    })
  })

  test('one file too many is refused before it is read', async () => {
    await using server = await start({ form })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Length: 90000'))

    client.send(`${file('a', '1')}${file('b', '2')}${file('c', 'only its beginning')}`)

    expect(problemOfText(await client.closed())).toMatchObject({ status: 400, code: 'too_many_files', max_files: 2 })
  })

  test('fields are limited in number and length', async () => {
    await using server = await start({ form })

    expect(await post(server.url, `${field(1_000).repeat(3)}--b--`, FORM)).toMatchObject({ status: 200 })
    expect(await post(server.url, `${field(1).repeat(4)}--b--`, FORM)).toMatchObject({ status: 400 })
    expect(await post(server.url, `${field(1_001)}--b--`, FORM)).toMatchObject({
      status: 413,
      content: { code: 'body_too_large', max_bytes: 1_000 },
    })
  })

  test('a Content-Length above the limit is refused before the form is sent', async () => {
    await using server = await start({ form })
    const client = await openRaw(server.port)

    client.send(head(server.port, 'Content-Length: 1100001', 'Expect: 100-continue'))

    const answer = await client.closed()
    expect(problemOfText(answer)).toMatchObject({ status: 413, code: 'file_too_large' })
    expect(answer).not.toMatch(/100 Continue/)
  })

  test('a client that waits for "100 Continue" is told to go on', async () => {
    await using server = await start({ form })
    const client = await openRaw(server.port)
    const body = `${file('a', 'x')}--b--`
    client.send(head(server.port, `Content-Length: ${body.length}`, 'Expect: 100-continue', 'Connection: close'))
    await client.until(/^HTTP\/1.1 100 Continue\r\n\r\n$/)

    client.send(body)

    expect(await client.closed()).toMatch(/HTTP\/1.1 200 OK\r\n/)
  })

  test.each([
    ['before the first part', '', 413],
    ['in a file', lines('--b', 'Content-Disposition: form-data; name="file"; filename="a"', '', ''), 413],
    ['in the headers', '--b\r\nX: ', 400],
    ['behind the last part', '--b--', 413],
  ])('an endless form is refused soon: %s', async (_where, beginning, status) => {
    await using server = await start({ form })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Transfer-Encoding: chunked'))
    client.send(`${beginning.length.toString(16)}\r\n${beginning}\r\n`.slice(beginning === '' ? 5 : 0))
    flood(client)

    const answer = await client.closed()

    expect(statusOfText(answer)).toBe(status)
    expect(client.socket.bytesWritten - client.socket.writableLength).toBeLessThan(30_000_000)
  })
})

function flood({ socket }: RawClient): void {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', write)
  write()
}

describe('a slow form', () => {
  /** Reports how much of the file has arrived. */
  function counting() {
    let seen = 0
    const counted = route('POST /form', async (request, reply) => {
      for await (const part of request.multipart()) {
        if (part.kind === 'file') for await (const chunk of part.content) seen += chunk.length
      }
      reply.json(200, seen)
    })
    return { routes: [counted], seen: () => seen }
  }
  const beginning = file('a', '').slice(0, -2)

  test('may take any time if it arrives at 8 kB a second', async () => {
    const clock = createManualClock()
    const { routes, seen } = counting()
    await using server = await start({ clock, routes })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Length: 50000000', 'Connection: close'))
    client.send(beginning)

    // An hour. Each piece arrives before the clock moves on.
    for (let i = 1; i <= 120; i += 1) {
      client.send(Buffer.alloc(240_100, 'x'))
      // A possible beginning of a boundary is held back.
      await until(() => seen() >= i * 240_100 - 64)
      clock.advance(30_000)
    }
    expect(client.received()).toBe('')
    client.socket.destroy()
  })

  test('is refused if it is slower', async () => {
    const clock = createManualClock()
    const { routes, seen } = counting()
    await using server = await start({ clock, routes })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Length: 50000000'))
    client.send(beginning)
    client.send(Buffer.alloc(230_000, 'x'))
    await until(() => seen() >= 229_000)

    clock.advance(29_999)
    expect(client.received()).toBe('')
    clock.advance(1)

    const answer = await client.until(/\}$/)
    expect(problemOfText(answer)).toMatchObject({ status: 408, code: 'request_timeout' })
    clock.advance(500)
    await client.closed()
  })

  test('a slow reader does not count against the client, and slows it down', async () => {
    const clock = createManualClock()
    const gate = Promise.withResolvers<void>()
    let began = false
    const slow = route('POST /form', async (request, reply) => {
      let size = 0
      for await (const part of request.multipart()) {
        if (part.kind !== 'file') continue
        for await (const chunk of part.content) {
          began = true
          await gate.promise
          size += chunk.length
        }
      }
      reply.json(200, size)
    })
    await using server = await start({ clock, routes: [slow] })
    const client = await openRaw(server.port)
    const body = `${file('a', 'x'.repeat(30_000_000))}--b--`
    client.send(head(server.port, `Content-Length: ${body.length}`, 'Connection: close'))
    client.send(body)
    await until(() => began)
    await steady(() => client.socket.writableLength)

    clock.advance(100_000)
    expect(client.received()).toBe('')
    // The rest is still at the client or in the kernel's buffers.
    expect(client.socket.writableLength).toBeGreaterThan(10_000_000)
    gate.resolve()

    expect(await client.closed()).toMatch(/\r\n\r\n30000000$/)
  })
})

/** Resolves when the number has not changed for many turns. */
async function steady(figure: () => number): Promise<void> {
  let last = figure()
  for (let turns = 0; turns < 500; turns += 1) {
    await turn()
    if (figure() !== last) turns = 0
    last = figure()
  }
}

describe('a reader of a form', () => {
  test('may skip parts and still gets the next one', async () => {
    const picky = route('POST /form', async (request, reply) => {
      const names: unknown[] = []
      for await (const part of request.multipart()) {
        if (part.kind !== 'file') continue
        names.push(part.filename)
        if (part.filename === 'half') for await (const _ of part.content) break
      }
      reply.json(200, names)
    })
    await using server = await start({ routes: [picky] })
    const large = 'x'.repeat(500_000)
    const body = `${file('unread', large)}${file('half', large)}${file('small', 'x')}--b--`

    expect(await post(server.url, body, FORM)).toEqual({ status: 200, content: ['unread', 'half', 'small'] })
  })

  test('that fails is answered at once; the rest is not read', async () => {
    const failing = route('POST /form', async (request) => {
      for await (const part of request.multipart()) {
        if (part.kind === 'file') for await (const _ of part.content) throw new Error('a bug')
      }
    })
    await using server = await start({ routes: [failing] })
    const client = await openRaw(server.port)
    client.send(head(server.port, 'Content-Length: 50000000'))
    client.send(file('a', 'x'))

    expect(statusOfText(await client.closed())).toBe(500)
  })

  test('gets an error if the client disconnects, and the server goes on', async () => {
    const outcomes: unknown[] = []
    const told = route('POST /form', async (request, reply) => {
      try {
        for await (const part of request.multipart()) if (part.kind === 'file') await textOf(part.content)
        reply.json(200, 'whole')
      } catch (error) {
        outcomes.push(error instanceof Error ? error.name : error)
        throw error
      }
    })
    await using server = await start({ routes: [told] })
    for (const sent of ['', '--b', file('a', 'x'.repeat(100_000))]) {
      const client = await openRaw(server.port)
      client.send(head(server.port, 'Content-Length: 50000000'))
      client.send(sent)
      await until(() => server.server.stats().inWork === 1)
      client.socket.destroy()
      await until(() => server.server.stats().inWork === 0)
    }

    await until(() => outcomes.length === 3)
    expect(outcomes).toEqual(['ClientGone', 'ClientGone', 'ClientGone'])
    expect(await post(server.url, `${file('a', 'x')}--b--`, FORM)).toEqual({ status: 200, content: 'whole' })
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('headers with parameters', () => {
  test.each<[string, string, Record<string, string>]>([
    ['text/plain', 'text/plain', {}],
    ['', '', {}],
    ['Multipart/Form-Data; Boundary=abc', 'multipart/form-data', { boundary: 'abc' }],
    [
      'multipart/form-data;boundary="a b;c"; charset=utf-8',
      'multipart/form-data',
      { boundary: 'a b;c', charset: 'utf-8' },
    ],
    ['multipart/form-data ; boundary = abc ', 'multipart/form-data', { boundary: 'abc' }],
    ['form-data; name="a"; filename="say \\"hi\\".txt"', 'form-data', { name: 'a', filename: 'say "hi".txt' }],
    ['form-data; name="a"; filename="C:\\dir\\b.txt"', 'form-data', { name: 'a', filename: 'C:\\dir\\b.txt' }],
    ["form-data; name=a; filename*=UTF-8''b%20c", 'form-data', { name: 'a', 'filename*': "UTF-8''b%20c" }],
    ['form-data; name="a"; name="b"', 'form-data', { name: 'a' }],
    ['form-data; ; =; x; name="a"', 'form-data', { name: 'a' }],
    ['form-data; name="no end', 'form-data', { name: '' }],
    ['form-data; __proto__="x"; name=""', 'form-data', { ['__proto__']: 'x', name: '' }],
  ])('reads %j', (text, value, parameters) => {
    const parsed = parseHeader(text)

    expect(parsed.value).toBe(value)
    expect([...parsed.parameters]).toEqual(Object.entries(parameters))
  })

  test('a header that is built to be slow takes no longer', () => {
    const before = process.threadCpuUsage()

    parseHeader(`form-data${'; a="\\'.repeat(4_000)}`)
    parseHeader(`form-data; a="${'\\'.repeat(16_000)}`)
    parseHeader(`form-data;${' \t'.repeat(8_000)}`)

    expect(process.threadCpuUsage(before).user).toBeLessThan(500_000)
  })
})
