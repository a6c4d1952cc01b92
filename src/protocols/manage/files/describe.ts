// What these routes take and answer, for the OpenAPI document.

import { z } from 'zod'
import { fileLimits, fileTypes } from '../../../domain/file.ts'
import type { RouteDescription } from '../../../http/route-description.ts'

const tag = 'Files'

const FileSchema = z
  .strictObject({
    file_id: z.string(),
    mime_type: z
      .enum(fileTypes)
      .describe('The type, determined from the content. Other texts, such as JSON or HTML, are `text/plain`.'),
    bytes: z.int(),
    sha256: z.string(),
    name: z.string(),
  })
  .meta({ id: 'File' })

export const describeUpload: RouteDescription = {
  tag,
  description:
    'A message in any protocol can refer to the file by its id. The file then belongs to that session and is deleted with it. A file that is not sent in a message is removed after a day, unless the server is configured otherwise. The size of the unsent files of one user is limited.',
  form: {
    schema: z.strictObject({
      file: z
        .array(z.file())
        .min(1)
        .max(fileLimits.files)
        .describe(`Up to ${fileLimits.multipartBytes / 1e6} MB each and ${fileLimits.totalBytes / 1e6} MB in all.`),
    }),
  },
  responses: {
    201: {
      description: 'The stored file, or a list if several were sent.',
      headers: { Location: 'Address of the file, if one was sent.' },
      content: {
        'application/json': {
          schema: z.union([FileSchema, z.strictObject({ files: z.array(FileSchema) })]),
          example: {
            file_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
            mime_type: 'application/pdf',
            bytes: 48_213,
            sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
            name: 'report.pdf',
          },
        },
      },
    },
  },
  errors: ['too_many_uploads', 'storage_full', 'storage_failed'],
}

export const describeDownload: RouteDescription = {
  tag,
  description:
    'Only for the owner; the files of others are not found. Addresses in an AG-UI snapshot contain a `key` that opens one file for an hour without a token.',
  params: { id: z.string().describe('Id of the file: a UUID or a ULID.') },
  query: {
    key: z.string().optional().describe('The key from an address that the server made. Without it, send a token.'),
  },
  responses: {
    200: {
      description: 'The bytes that were uploaded.',
      headers: { 'Content-Disposition': '`attachment` with the name of the file, or `inline` for an image.' },
      content: Object.fromEntries(fileTypes.map((type) => [type, { schema: z.string() }])),
    },
  },
  errors: ['forbidden', 'file_not_found', 'rate_limited', 'storage_failed'],
}
