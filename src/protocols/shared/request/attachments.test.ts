import { expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import type { FileRecord } from '../../../domain/session/file.ts'
import { contentWith } from '../../../domain/session/message.ts'
import { createAttachments, refuseExcess, startFiles } from './attachments.ts'
import type { SentFile } from './sent-file.ts'

const sent = (bytes: number): SentFile => ({
  pointer: '/files/0/content',
  base64: `${'A'.repeat(Math.floor(bytes / 3) * 4)}${['', 'AA==', 'AAA='][bytes % 3]}`,
  name: 'a.txt',
  mimeType: 'text/plain',
})
const record = (id: string, more: Partial<FileRecord> = {}): FileRecord => ({
  id,
  owner: 'me',
  sessionId: null,
  name: 'a.txt',
  mimeType: 'text/plain',
  bytes: 1,
  sha256: 'f'.repeat(64),
  createdAt: 0,
  ...more,
})
const codeOf = (action: () => void): unknown => {
  try {
    action()
  } catch (error) {
    return error instanceof ServerError ? error.code : error
  }
  return null
}

test('takes 10 MB and not a byte more, ten files and not one more, before anything is decoded', () => {
  const reference: SentFile = { pointer: '', fileId: 'x' }
  const largest = sent(10_000_000)

  expect(codeOf(() => refuseExcess([largest]))).toBe(null)
  expect(codeOf(() => refuseExcess([sent(10_000_001)]))).toBe('file_too_large')
  expect(codeOf(() => refuseExcess(Array(10).fill(largest)))).toBe(null)
  expect(codeOf(() => refuseExcess(Array(11).fill(reference)))).toBe('too_many_files')
})

test('a message is its words alone, or its words and its files', () => {
  const picture = record('2', { mimeType: 'image/png', name: 'b.png' })

  expect(contentWith('Hi', [])).toBe('Hi')
  expect(contentWith('Hi', [record('1'), picture])).toEqual([
    { type: 'text', text: 'Hi' },
    {
      type: 'document',
      source: { type: 'file', value: '1', mimeType: 'text/plain' },
      metadata: { filename: 'a.txt' },
    },
    { type: 'image', source: { type: 'file', value: '2', mimeType: 'image/png' }, metadata: { filename: 'b.png' } },
  ])
  expect(contentWith('', [picture])).toHaveLength(1)
  expect(startFiles([])).toEqual({})
  expect(startFiles([picture, record('1'), picture])).toEqual({ files: ['2', '1'] })
})

test('what cannot be read is named, and a picture is left to a model that sees', async () => {
  const read: string[] = []
  const attachments = createAttachments({
    files: {
      add: async () => record('1'),
      find: async () => record('1'),
    },
    async readable({ id }) {
      read.push(id)
      if (id === 'bad') throw new ServerError('file_unreadable', 'It is damaged.')
    },
    fetchFile: null,
  })
  const { signal } = new AbortController()
  const picture = record('p', { mimeType: 'image/png' })

  await attachments.check([picture, record('1')], ['text', 'image'], signal)
  await attachments.check([picture], undefined, signal)
  const failed = attachments.check([record('bad', { name: 'plan.txt' })], [], signal)

  await expect(failed).rejects.toMatchObject({
    code: 'file_unreadable',
    message: '"plan.txt" cannot be read. It is damaged.',
    details: { file_id: 'bad', name: 'plan.txt' },
  })
  expect(read).toEqual(['1', 'p', 'bad'])
})
