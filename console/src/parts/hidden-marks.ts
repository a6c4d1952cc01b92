/**
 * Characters that turn the text around them or that nobody sees: the ones of right-to-left writing that override what is there, blanks
 * without width, and tags. Languages and emoji need the joiners U+200C and U+200D, so those stay.
 */
const HIDDEN =
  /[\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const HAS_HIDDEN = new RegExp(HIDDEN.source, 'u')

/**
 * For text that one reads and does not decide about: it comes as it was said, and the server marks only what is decided about. The
 * marks are the server's, `<U+202E>`, which `VisibleText` makes stand out.
 */
export function markHidden(text: string): string {
  if (!HAS_HIDDEN.test(text)) return text
  return text.replace(
    HIDDEN,
    (found) => `<U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  )
}
