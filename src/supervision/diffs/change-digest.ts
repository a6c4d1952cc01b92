import { canonicalJson, sha256 } from '../../json/digest.ts'
import type { FileChange } from './propose-change.ts'

/** What an approval of a diff is bound to: this file, from exactly these bytes to exactly those. */
export const changeDigest = ({ path, kind, beforeHash, afterHash }: Omit<FileChange, 'after'>): string =>
  sha256(canonicalJson(['file_change', path, kind, beforeHash, afterHash]))
