import { expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { createAttachments, type FetchFile } from '../../shared/request/attachments.ts'
import { openEngineWithFiles, PNG } from '../../testing/open-engine-with-files.ts'
import { keepFiles } from './keep-files.ts'

/** Keeps a message with an address, on a server that fetches addresses with `fetchFile`. */
function keepAddress(fetchFile: FetchFile) {
  const { keeper, close } = openEngineWithFiles()
  onTestFinished(close)
  const attachments = createAttachments({ files: keeper, readable: async () => {}, fetchFile })
  const source = { type: 'url' as const, value: 'https://example.com/pictures/dot.png?size=1' }
  const content = [{ type: 'image' as const, source, name: null, unread: null }]
  return keepFiles(attachments, 'local_user', null, [{ id: 'm1', role: 'user', content }])
}

test('an address is fetched where the server does that', async () => {
  const { messages, files } = await keepAddress(async () => ({ content: PNG, mimeType: 'text/html', name: 'dot.png' }))

  expect(files).toMatchObject([{ name: 'dot.png', mimeType: 'image/png', bytes: PNG.length }])
  expect(messages[0]?.content).toMatchObject([{ type: 'image', source: { type: 'file', value: files[0]?.id } }])
})

test('an address that cannot be fetched stays in the message with the reason', async () => {
  const { messages, files } = await keepAddress(async () => {
    throw new ServerError('file_unreadable', 'The file could not be fetched: its server answered 404.')
  })

  expect(files).toEqual([])
  expect(messages[0]?.content).toEqual([
    {
      type: 'image',
      source: { type: 'url', value: 'https://example.com/pictures/dot.png?size=1' },
      metadata: {
        filename: 'dot.png',
        unread:
          'The file could not be fetched: its server answered 404. It is at https://example.com/pictures/dot.png?size=1',
      },
    },
  ])
})

test('an address with a file that is too large is refused, as every file that is', async () => {
  const keeping = keepAddress(async () => {
    throw new ServerError('file_too_large', 'A file that is fetched from a URL may be at most 10 MB large.')
  })

  await expect(keeping).rejects.toMatchObject({ code: 'file_too_large' })
})
