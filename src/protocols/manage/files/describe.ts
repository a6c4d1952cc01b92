// What the routes of this family take and answer, for the document.

import { z } from 'zod'
import { fileLimits, fileTypes } from '../../../domain/file.ts'
import type { RouteDescription } from '../../../http/route-description.ts'

const tag = 'Files'

const FileSchema = z
  .strictObject({
    file_id: z.string(),
    mime_type: z.enum(fileTypes).describe('What it is by its content.'),
    bytes: z.int(),
    sha256: z.string(),
    name: z.string(),
  })
  .meta({ id: 'File' })

export const describeUpload: RouteDescription = {
  tag,
  description:
    'The id can be sent with a message at every door; the file then belongs to that session and goes with it. One that is not sent is removed after a day, unless the server is set otherwise; what one user may have of these is limited.',
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
      description: 'What is kept: the file, or a list where several were sent.',
      headers: { Location: 'Of the file, where one was sent.' },
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
    'For its owner alone: a file of somebody else is not found. An AG-UI snapshot has addresses with a `key` that open one file for an hour without a credential.',
  params: { id: z.string().describe('The id of the file: UUID or ULID.') },
  query: {
    key: z.string().optional().describe('Of an address that the server made. Without it the credential counts.'),
  },
  responses: {
    200: {
      description: 'The bytes as they were sent.',
      headers: { 'Content-Disposition': 'An attachment with the name of the file; a picture is inline.' },
      content: Object.fromEntries(fileTypes.map((type) => [type, { schema: z.string() }])),
    },
  },
  errors: ['forbidden', 'file_not_found', 'rate_limited', 'storage_failed'],
}
