import { type FileRecord, isImage } from '../../../domain/file.ts'
import type { UploadedFile } from './schema.ts'

export const fileView = ({ id, mimeType, bytes, sha256, name }: FileRecord): UploadedFile => ({
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
export function disposition({ name, mimeType }: Pick<FileRecord, 'name' | 'mimeType'>): string {
  const plain = name.replaceAll(/[^ !#$&-[\]-~]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return `${isImage(mimeType) ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
