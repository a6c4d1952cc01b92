// Tells whether bytes are text in a known encoding (`text-encoding.ts`). It looks at the whole file, because a binary file may begin
// with a line of text.

import { BEFORE_BYTES, legacyEncodingOf, SAMPLE_BYTES, utf16WithoutMark } from '../formats/text/text-encoding.ts'

export interface TextSniffer {
  /** False as soon as it is certain that this is not text. */
  take(bytes: Uint8Array): boolean
  /** Called at the end of the file. `unknown encoding`: it seems to be text. */
  end(): 'text' | 'unknown encoding' | 'not text'
}

/** Enough to see the zeros of UTF-16. */
const HEAD_BYTES = 512

export function createTextSniffer(): TextSniffer {
  let head = Buffer.alloc(0)
  let sniffer: TextSniffer | null = null

  function begin(): boolean {
    sniffer = createSnifferFor(head)
    return sniffer.take(head)
  }

  return {
    take(bytes) {
      if (sniffer !== null) return sniffer.take(bytes)
      head = Buffer.concat([head, bytes])
      return head.length < HEAD_BYTES || begin()
    },
    end() {
      if (sniffer === null && (head.length === 0 || !begin())) return 'not text'
      return sniffer?.end() ?? 'not text'
    },
  }
}

function createSnifferFor(head: Uint8Array): TextSniffer {
  const [first, second] = head
  if (first === 0xff && second === 0xfe) return createUtf16Sniffer('utf-16le')
  if (first === 0xfe && second === 0xff) return createUtf16Sniffer('utf-16be')
  // Always the same bytes, in whatever pieces the file arrives.
  const encoding = utf16WithoutMark(head.subarray(0, HEAD_BYTES))
  return encoding === null ? createByteSniffer() : createUtf16Sniffer(encoding)
}

/** Control characters that text does not use. Not listed: tab, line ends, form feed, escape, and the old end-of-file character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are counted.
const BINARY = /[\x00-\x08\x0e-\x19\x1c-\x1f]/g

/** Some logs and old texts have a few control characters. In compressed data about one byte in ten is one. */
const MAX_SHARE_OF_CONTROLS = 0.01
const MAX_CONTROLS = 1_000

const areFew = (controls: number, count: number): boolean => controls <= count * MAX_SHARE_OF_CONTROLS

function createUtf16Sniffer(encoding: string): TextSniffer {
  const decoder = createStrictDecoder(encoding)
  let count = 0
  let controls = 0
  return {
    take(bytes) {
      const text = decoder.take(bytes)
      if (text === null) return false
      count += text.length
      controls += text.match(BINARY)?.length ?? 0
      return controls <= MAX_CONTROLS
    },
    end: () => (decoder.end() && areFew(controls, count) ? 'text' : 'not text'),
  }
}

const PLAIN = 0
const CONTROL = 1
const BEYOND_ASCII = 2
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return BEYOND_ASCII
  return String.fromCharCode(byte).search(BINARY) === 0 ? CONTROL : PLAIN
})

function createByteSniffer(): TextSniffer {
  const utf8 = createStrictDecoder('utf-8')
  let isUtf8 = true
  let count = 0
  let controls = 0
  /** The bytes around the first one that is not ASCII. Until that one comes: the last bytes. */
  let sample = Buffer.alloc(0)
  let isPlain = true
  return {
    take(bytes) {
      count += bytes.length
      let firstBeyond = -1
      // A counted loop takes half the time of `for … of`, and every byte of every text goes through it.
      for (let i = 0; i < bytes.length; i += 1) {
        const kind = kinds[bytes[i] ?? 0]
        if (kind === PLAIN) continue
        if (kind === CONTROL) controls += 1
        else if (firstBeyond === -1) firstBeyond = i
      }
      if (isPlain) {
        const before = firstBeyond === -1 ? bytes.length : firstBeyond
        sample = Buffer.concat([sample, bytes.subarray(Math.max(0, before - BEFORE_BYTES), before)]).subarray(
          -BEFORE_BYTES,
        )
      }
      if (!isPlain || firstBeyond !== -1) {
        const missing = SAMPLE_BYTES - sample.length
        sample = Buffer.concat([sample, bytes.subarray(isPlain ? firstBeyond : 0).subarray(0, missing)])
        isPlain = false
      }
      isUtf8 &&= utf8.take(bytes) !== null
      return controls <= MAX_CONTROLS
    },
    end() {
      if (!areFew(controls, count)) return 'not text'
      if (isUtf8 && utf8.end()) return 'text'
      return legacyEncodingOf(sample) === null ? 'unknown encoding' : 'text'
    },
  }
}

function createStrictDecoder(encoding: string) {
  const decoder = new TextDecoder(encoding, { fatal: true })
  return {
    /** Null when the bytes are not in this encoding. */
    take(bytes: Uint8Array): string | null {
      try {
        return decoder.decode(bytes, { stream: true })
      } catch {
        return null
      }
    },
    /** Whether the bytes ended with a whole character. */
    end(): boolean {
      try {
        decoder.decode()
        return true
      } catch {
        return false
      }
    },
  }
}
