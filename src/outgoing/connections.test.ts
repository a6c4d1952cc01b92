import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { quickReads } from './connections.ts'

const bytes = (text: string): Buffer => Buffer.from(text)

test('a read is there at once; what is not taken is kept in order, and the end comes last', async () => {
  const socket = new Socket()
  quickReads(socket)
  const seen: string[] = []
  let isTaken = true
  socket.on('readable', () => {
    for (let chunk = isTaken ? socket.read() : null; chunk !== null; chunk = socket.read()) seen.push(String(chunk))
  })
  const ended = new Promise((resolve) => socket.on('end', resolve))
  socket.push(bytes('a'))
  expect(seen).toEqual(['a'])
  isTaken = false
  socket.push(bytes('b'))
  socket.push(bytes('c'))
  expect([seen, socket.readableLength]).toEqual([['a'], 2])
  isTaken = true
  socket.push(bytes('d'))
  socket.push(null)
  await ended
  expect(seen.join('')).toBe('abcd')
})
