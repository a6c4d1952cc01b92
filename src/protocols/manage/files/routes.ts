// Upload files, which a message in any protocol can refer to, and download them again.

import { type FileHandle, open } from 'node:fs/promises'
import { z } from 'zod'
import { fileNotFound, ServerError } from '../../../domain/errors.ts'
import { type FileRecord, fileLimits, fileTypes, isImage } from '../../../domain/session/file.ts'
import type { FileKeeper } from '../../../files/file-keeper.ts'
import type { FileKeys } from '../../../http/auth/file-keys.ts'
import { exampleOf } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { FileSchema, type UploadedFile } from './schema.ts'

export interface FileRoutesDeps {
  files: Pick<FileKeeper, 'add' | 'find' | 'open'>
  keys: Pick<FileKeys, 'ownerOf'>
}

const PART_NAMES = ['file', 'files']
const CHUNK_BYTES = 64 * 1024
const tag = 'Files'

export function createFileRoutes({ files, keys }: FileRoutesDeps): Route[] {
  async function upload(request: Request, reply: Reply): Promise<void> {
    const { owner } = request.principal
    const kept: FileRecord[] = []
    for await (const part of request.multipart()) {
      if (part.kind !== 'file' || !PART_NAMES.includes(part.name)) throw unknownPart(part.name)
      const { filename: name, mimeType, content } = part
      kept.push(await files.add({ owner, name, mimeType, content, maxBytes: fileLimits.multipartBytes }))
    }
    const [first, ...others] = kept
    if (first === undefined)
      throw new ServerError('invalid_request', 'The form has no file. Send one in a part named "file".')
    if (others.length > 0) reply.json(201, { files: kept.map(fileView) })
    else reply.json(201, fileView(first), { Location: `/files/${first.id}` })
  }

  async function download(request: Request, reply: Reply): Promise<void> {
    const file = await files.find(request.principal.owner, request.params.id ?? '')
    using bytes = await files.open(file)
    const handle = await openBytes(bytes.path, file)
    try {
      const stream = reply.stream(file.mimeType, {
        'Content-Length': String(file.bytes),
        'Content-Disposition': disposition(file),
        // A request with a key has no Authorization header, so a proxy would cache the answer for everybody.
        'Cache-Control': 'no-store',
        // If a browser shows it anyway: no scripts, no forms, and its own origin.
        'Content-Security-Policy': "sandbox; default-src 'none'",
        // The page that has the key may come from another origin and may block other origins.
        ...(request.query.has('key') ? { 'Cross-Origin-Resource-Policy': 'cross-origin' } : {}),
      })
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES)
        if (bytesRead === 0) break
        await stream.write(buffer.subarray(0, bytesRead))
      }
      stream.end()
    } finally {
      await handle.close()
    }
  }

  const { get, post } = routeHeads(null, 'user')
  return [
    {
      ...post,
      path: '/files',
      body: 'files',
      summary: 'Upload files, to send them with a message later',
      describe: () => ({
        tag,
        description:
          'A message in any protocol can refer to the file by its id. The file then belongs to that session and is deleted with it. A file that is not sent in a message is removed after a day, unless the server is configured otherwise. The size of the unsent files of one user is limited.',
        form: {
          schema: z.strictObject({
            file: z
              .array(z.file())
              .min(1)
              .max(fileLimits.files)
              .describe(
                `Up to ${fileLimits.multipartBytes / 1e6} MB each and ${fileLimits.totalBytes / 1e6} MB in all.`,
              ),
          }),
        },
        responses: {
          201: {
            description: 'The stored file, or a list if several were sent.',
            headers: { Location: 'Address of the file, if one was sent.' },
            content: {
              'application/json': {
                schema: z.union([FileSchema, z.strictObject({ files: z.array(FileSchema) })]),
                example: exampleOf(FileSchema),
              },
            },
          },
        },
        errors: ['too_many_uploads', 'storage_full', 'storage_failed'],
      }),
      handle: upload,
    },
    {
      ...get,
      path: '/files/:id',
      summary: 'Download a file',
      async signedOwner({ params, query }) {
        const key = query.get('key')
        if (key === null) return null
        const owner = await keys.ownerOf(params.id ?? '', key)
        if (owner !== null) return owner
        throw new ServerError(
          'forbidden',
          'The key in this address has expired or is not for this file. Load the conversation again, or send your token.',
        )
      },
      describe: () => ({
        tag,
        description:
          'Only for the owner; the files of others are not found. Addresses in an AG-UI snapshot contain a `key` that opens one file for an hour without a token.',
        params: { id: z.string().describe('Id of the file: a UUID or a ULID.') },
        query: {
          key: z
            .string()
            .optional()
            .describe('The key from an address that the server made. Without it, send a token.'),
        },
        responses: {
          200: {
            description: 'The bytes that were uploaded.',
            headers: { 'Content-Disposition': '`attachment` with the name of the file, or `inline` for an image.' },
            content: Object.fromEntries(fileTypes.map((type) => [type, { schema: z.string() }])),
          },
        },
        errors: ['forbidden', 'file_not_found', 'rate_limited', 'storage_failed'],
      }),
      handle: download,
    },
  ]
}

async function openBytes(path: string, file: FileRecord): Promise<FileHandle> {
  try {
    return await open(path)
  } catch (cause) {
    // The record exists even if the data directory was copied without its files.
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') throw fileNotFound(file.id)
    throw new ServerError('storage_failed', 'The bytes of the file cannot be read.', { cause })
  }
}

const unknownPart = (name: string): ServerError =>
  new ServerError(
    'invalid_request',
    `The form has an unknown part ${JSON.stringify(name.slice(0, 100))}. Send files in parts named "file".`,
    { problems: [{ pointer: `/${name.slice(0, 100)}`, detail: 'Unknown part.' }] },
  )

const fileView = ({ id, mimeType, bytes, sha256, name }: FileRecord): UploadedFile => ({
  file_id: id,
  mime_type: mimeType,
  bytes,
  sha256,
  name,
})

/**
 * The Content-Disposition header (RFC 6266): browsers save the file under its name. Old browsers get a name in plain ASCII. Images may
 * be shown, because they cannot contain scripts.
 */
function disposition({ name, mimeType }: Pick<FileRecord, 'name' | 'mimeType'>): string {
  const plain = name.replaceAll(/[^ !#$&-[\]-~]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return `${isImage(mimeType) ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
