import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { createFileLinks, fileIdIn } from './file-links.ts'

const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const keys = { signer: async (owner: string) => (file: string) => `key-of-${file}-for-${owner}` }

async function link(headers: Record<string, string>, more: { tls?: boolean; basePath?: string } = {}) {
  const socket = more.tls === true ? new TLSSocket(new Socket()) : new Socket()
  const raw = { socket } as IncomingMessage
  const links = createFileLinks({ keys, basePath: more.basePath ?? '' })
  return (await links.urlsFor({ raw, header: (name) => headers[name] }, 'ada'))(id)
}

const path = `/files/${id}?key=key-of-${id}-for-ada`

test.each([
  [{ host: 'localhost:8000' }, {}, 'http://localhost:8000'],
  [{ host: 'localhost:8000', origin: 'https://app.example' }, {}, 'http://localhost:8000'],
  [{ host: '[::1]:8000', origin: 'https://app.example' }, {}, 'http://[::1]:8000'],
  [{ host: 'agents.example', origin: 'https://app.example' }, {}, 'https://agents.example'],
  [{ host: 'agents.example:8443' }, { tls: true }, 'https://agents.example:8443'],
  [{ host: 'agents.example', origin: 'http://agents.example' }, { basePath: '/agent' }, 'http://agents.example/agent'],
  [{}, {}, ''],
])('the address for a request with %j is absolute as the page needs it', async (headers, more, start) => {
  expect(await link(headers, more)).toBe(start + path)
})

test('an address of ours is known again', async () => {
  expect(fileIdIn(await link({ host: 'localhost:8000' }))).toBe(id)
  expect(['https://elsewhere.example/a.png', `/files/${id}`, '/files/x?key=1'].map(fileIdIn)).toEqual([
    null,
    null,
    null,
  ])
})
