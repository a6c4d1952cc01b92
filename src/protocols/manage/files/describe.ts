// What these routes take and answer, for the OpenAPI document.

import { z } from 'zod'
import { fileLimits, fileTypes } from '../../../domain/file.ts'
import { exampleOf } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { FileSchema } from './schema.ts'

const tag = 'Files'

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
          example: exampleOf(FileSchema),
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
