;; Finds the top-level fields and the long texts of a JSON object in its bytes, without checking that it is one. A body is
;; given in pieces, one after the other; the state between two of them is in the globals. `npm run docs` compiles this into
;; scanner-code.ts, and once more without the lines marked as simd, which old processors do not know.
(module
  ;; At 0 six numbers for the reader, at 32 the piece, then the finds: each has five numbers.
  (memory (export "memory") 7)
  (global $PIECE i32 (i32.const 32))
  (global $FINDS i32 (i32.const 65616))

  ;; "1h" with its quotes, as one number.
  (global $HOUR i32 (i32.const 0x22683122))
  ;; The first four letters of tools.
  (global $TOOL i32 (i32.const 0x6c6f6f74))

  (global $max_depth (mut i32) (i32.const 0))
  (global $max_values (mut i32) (i32.const 0))
  (global $max_bare (mut i32) (i32.const 0))
  (global $max_short (mut i32) (i32.const 0))

  ;; Before the object, outside of texts, in a text, after a backslash in it.
  (global $BEFORE i32 (i32.const 0))
  (global $BARE i32 (i32.const 1))
  (global $TEXT i32 (i32.const 2))
  (global $ESCAPE i32 (i32.const 3))
  (global $mode (mut i32) (i32.const 0))

  (global $is_object (mut i32) (i32.const 0))
  (global $depth (mut i32) (i32.const 0))
  ;; How many objects, arrays and elements of them came.
  (global $values (mut i32) (i32.const 0))
  (global $text_bytes (mut i32) (i32.const 0))
  ;; Of everything: 1 for bytes that are not ASCII, 2 for escapes such as \u00e9, 4 for "1h" with its quotes.
  (global $flags (mut i32) (i32.const 0))
  ;; The field that is open at the top level; -1 for what has not come.
  (global $key_start (mut i32) (i32.const 0))
  (global $key_end (mut i32) (i32.const 0))
  (global $is_tools (mut i32) (i32.const 0))
  (global $value_start (mut i32) (i32.const 0))
  (global $awaits_value (mut i32) (i32.const 0))
  ;; The last byte that is no space.
  (global $solid (mut i32) (i32.const 0))
  ;; The text that came last: 1 for escapes such as \u00e9, 2 for what JSON does not allow in a text, 4 for \/.
  (global $text_start (mut i32) (i32.const 0))
  (global $text_flags (mut i32) (i32.const 0))
  ;; Where the name of the value stands; -1 outside of objects.
  (global $name_start (mut i32) (i32.const 0))
  (global $next_find (mut i32) (i32.const 0))

  (func (export "begin") (param $max_depth i32) (param $max_values i32) (param $max_bare i32) (param $max_short i32)
    (global.set $max_depth (local.get $max_depth))
    (global.set $max_values (local.get $max_values))
    (global.set $max_bare (local.get $max_bare))
    (global.set $max_short (local.get $max_short))
    (global.set $mode (global.get $BEFORE))
    (global.set $is_object (i32.const 0))
    (global.set $depth (i32.const 0))
    (global.set $values (i32.const 0))
    (global.set $text_bytes (i32.const 0))
    (global.set $flags (i32.const 0))
    (global.set $key_start (i32.const -1))
    (global.set $value_start (i32.const -1))
    (global.set $awaits_value (i32.const 0))
    (global.set $name_start (i32.const -1)))

  ;; The list of tools is left out: what would have been found in it, and where it ends.
  (func (export "skip") (param $values i32) (param $text_bytes i32) (param $flags i32) (param $end i32)
    (global.set $values (i32.add (global.get $values) (local.get $values)))
    (global.set $text_bytes (i32.add (global.get $text_bytes) (local.get $text_bytes)))
    (global.set $flags (i32.or (global.get $flags) (local.get $flags)))
    (global.set $solid (i32.sub (local.get $end) (i32.const 1))))

  ;; 0: the piece ended. 1: the object ended. 2, 3, 4: too deep, too many values, too many bytes outside of texts. 5: the list
  ;; of tools begins, and the reader may know it. The next piece begins there or, if it does, behind the list.
  (func (export "scan") (param $length i32) (param $place i32) (result i32)
    (local $state i32)
    (global.set $next_find (global.get $FINDS))
    (local.set $state (call $scan_piece
      (global.get $PIECE)
      (i32.add (global.get $PIECE) (local.get $length))
      (i32.sub (local.get $place) (global.get $PIECE))))
    (i32.store offset=0 (i32.const 0) (i32.div_u (i32.sub (global.get $next_find) (global.get $FINDS)) (i32.const 20)))
    (i32.store offset=4 (i32.const 0) (global.get $values))
    (i32.store offset=8 (i32.const 0) (global.get $flags))
    (i32.store offset=12 (i32.const 0) (global.get $is_object))
    (i32.store offset=16 (i32.const 0) (global.get $text_bytes))
    (i32.store offset=20 (i32.const 0) (global.get $value_start))
    (local.get $state))

  ;; $shift: what makes an address a place in the body.
  (func $scan_piece (param $at i32) (param $end i32) (param $shift i32) (result i32)
    (local $byte i32) (local $place i32) (local $opens i32) (local $closes i32) (local $begins i32) (local $depth i32)
    (local $bytes v128) (local $special i32) (local $quote i32) ;; simd
    ;; Short texts are read 16 bytes at a time, so beyond the end; spaces mean nothing there.
    (i64.store offset=0 (local.get $end) (i64.const 0x2020202020202020))
    (i64.store offset=8 (local.get $end) (i64.const 0x2020202020202020))
    (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (i32.const 0))))
    (if (i32.eq (global.get $mode) (global.get $ESCAPE))
      (then
        (call $note_escape (i32.load8_u (local.get $at)))
        (global.set $mode (global.get $TEXT))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))))
    (if (i32.eq (global.get $mode) (global.get $TEXT))
      (then (local.set $at (call $read_text (local.get $at) (local.get $end) (local.get $shift)))))
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (i32.const 0))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (local.set $place (i32.add (local.get $at) (local.get $shift)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (if (i32.gt_u (i32.sub (local.get $place) (global.get $text_bytes)) (global.get $max_bare))
        (then (return (i32.const 4))))
      (if (i32.le_u (local.get $byte) (i32.const 0x20)) (then (br_if $next (call $is_space (local.get $byte)))))
      (if (global.get $awaits_value)
        (then
          (global.set $value_start (local.get $place))
          (global.set $awaits_value (i32.const 0))
          (if (i32.and (global.get $is_tools) (i32.eq (local.get $byte) (i32.const 0x5b))) (then (return (i32.const 5))))))
      (if (i32.eq (global.get $mode) (global.get $BEFORE))
        (then
          (global.set $mode (global.get $BARE))
          (global.set $is_object (i32.eq (local.get $byte) (i32.const 0x7b)))))
      (if (i32.eq (local.get $byte) (i32.const 0x22)) ;; "
        (then
          (global.set $text_start (local.get $place))
          (global.set $text_flags (i32.const 0))
          ;; simd
          ;; Most texts are names, and end within 16 bytes: at the first quote, if no other special byte stands before it.
          (local.set $bytes (v128.load (local.get $at)))
          (local.set $special (i8x16.bitmask
            (v128.or
              (v128.or
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
              (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20))))))
          (local.set $quote (i32.add (local.get $at) (i32.ctz (local.get $special))))
          (if (i32.and
                (i32.gt_s (global.get $depth) (i32.const 1))
                (i32.and (i32.ne (local.get $special) (i32.const 0)) (i32.eq (i32.load8_u (local.get $quote)) (i32.const 0x22))))
            (then
              (if (i8x16.bitmask (local.get $bytes)) (then (call $note_high)))
              (if (i32.eq (i32.load (i32.sub (local.get $quote) (i32.const 3))) (global.get $HOUR)) (then (call $note_hour)))
              (global.set $solid (i32.add (local.get $quote) (local.get $shift)))
              (global.set $text_bytes (i32.add (global.get $text_bytes) (i32.sub (global.get $solid) (local.get $place))))
              (local.set $at (i32.add (local.get $quote) (i32.const 1)))
              (br $next)))
          ;; end
          (global.set $mode (global.get $TEXT))
          (local.set $at (call $read_text (local.get $at) (local.get $end) (local.get $shift)))
          (br $next)))
      ;; Below the top level all bytes are treated alike: which one comes cannot be guessed, and a wrong guess takes long.
      (local.set $opens (i32.eq (i32.and (local.get $byte) (i32.const 0xdf)) (i32.const 0x5b))) ;; { or [
      (local.set $closes (i32.eq (i32.and (local.get $byte) (i32.const 0xdf)) (i32.const 0x5d))) ;; } or ]
      (local.set $depth (i32.sub (i32.add (global.get $depth) (local.get $opens)) (local.get $closes)))
      (if (i32.gt_s (local.get $depth) (i32.const 1))
        (then
          (if (i32.gt_s (local.get $depth) (global.get $max_depth)) (then (return (i32.const 2))))
          (global.set $depth (local.get $depth))
          (local.set $begins (i32.or (local.get $opens) (i32.eq (local.get $byte) (i32.const 0x2c)))) ;; ,
          (global.set $values (i32.add (global.get $values) (local.get $begins)))
          (if (i32.gt_u (global.get $values) (global.get $max_values)) (then (return (i32.const 3))))
          (global.set $name_start (select
            (i32.const -1)
            (select (global.get $text_start) (global.get $name_start) (i32.eq (local.get $byte) (i32.const 0x3a))) ;; :
            (local.get $begins)))
          (if (i32.ge_u (local.get $byte) (i32.const 0x80)) (then (call $note_high)))
          (global.set $solid (local.get $place))
          (br $next)))
      (block $done
        (if (i32.eq (local.get $byte) (i32.const 0x2c)) ;; ,
          (then
            (global.set $values (i32.add (global.get $values) (i32.const 1)))
            (if (i32.gt_u (global.get $values) (global.get $max_values)) (then (return (i32.const 3))))
            (global.set $name_start (i32.const -1))
            (if (i32.eq (global.get $depth) (i32.const 1)) (then (call $end_field)))
            (br $done)))
        (if (i32.eq (local.get $byte) (i32.const 0x3a)) ;; :
          (then
            (global.set $name_start (global.get $text_start))
            (if (i32.and
                  (i32.eq (global.get $depth) (i32.const 1))
                  (i32.and (i32.ge_s (global.get $key_start) (i32.const 0)) (i32.lt_s (global.get $value_start) (i32.const 0))))
              (then (global.set $awaits_value (i32.const 1))))
            (br $done)))
        (if (i32.eq (i32.and (local.get $byte) (i32.const 0xdf)) (i32.const 0x5b)) ;; { or [
          (then
            (global.set $depth (i32.add (global.get $depth) (i32.const 1)))
            (if (i32.gt_s (global.get $depth) (global.get $max_depth)) (then (return (i32.const 2))))
            (global.set $values (i32.add (global.get $values) (i32.const 1)))
            (if (i32.gt_u (global.get $values) (global.get $max_values)) (then (return (i32.const 3))))
            (global.set $name_start (i32.const -1))
            (br $done)))
        (if (i32.eq (i32.and (local.get $byte) (i32.const 0xdf)) (i32.const 0x5d)) ;; } or ]
          (then
            (global.set $depth (i32.sub (global.get $depth) (i32.const 1)))
            (br_if $done (global.get $depth))
            (call $end_field)
            (return (i32.const 1))))
        (if (i32.ge_u (local.get $byte) (i32.const 0x80)) (then (call $note_high))))
      (global.set $solid (local.get $place))
      (br $next))
    (unreachable))

  (func $is_space (param $byte i32) (result i32)
    (if (i32.gt_u (local.get $byte) (i32.const 0x20)) (then (return (i32.const 0))))
    (i32.or
      (i32.or (i32.eq (local.get $byte) (i32.const 0x20)) (i32.eq (local.get $byte) (i32.const 0x0a)))
      (i32.or (i32.eq (local.get $byte) (i32.const 0x0d)) (i32.eq (local.get $byte) (i32.const 0x09)))))

  ;; From within a text. Returns where it goes on outside of it, or the piece's end.
  (func $read_text (param $at i32) (param $end i32) (param $shift i32) (result i32)
    (local $byte i32)
    ;; simd
    (local $first v128) (local $second v128) (local $highs v128) (local $quotes i32) (local $backslashes i32)
    (local $escaped i32) (local $is_escaped i32) (local $odd i64) (local $ends i32) (local $seldom i32)
    ;; 32 bytes at a time, a bit for each. Code is full of escapes, and where the next one stands cannot be guessed.
    (block $rest
      (loop $next
        (br_if $rest (i32.gt_u (i32.add (local.get $at) (i32.const 32)) (local.get $end)))
        (local.set $first (v128.load offset=0 (local.get $at)))
        (local.set $second (v128.load offset=16 (local.get $at)))
        (local.set $highs (v128.or (local.get $highs) (v128.or (local.get $first) (local.get $second))))
        (local.set $quotes (i32.or
          (i8x16.bitmask (i8x16.eq (local.get $first) (i8x16.splat (i32.const 0x22))))
          (i32.shl (i8x16.bitmask (i8x16.eq (local.get $second) (i8x16.splat (i32.const 0x22)))) (i32.const 16))))
        (local.set $backslashes (i32.or
          (i8x16.bitmask (i8x16.eq (local.get $first) (i8x16.splat (i32.const 0x5c))))
          (i32.shl (i8x16.bitmask (i8x16.eq (local.get $second) (i8x16.splat (i32.const 0x5c)))) (i32.const 16))))
        (local.set $ends (local.get $quotes))
        (if (i32.or (local.get $backslashes) (local.get $is_escaped))
          (then
            ;; A run of backslashes escapes every second byte from its start: a carry that runs through it tells which.
            ;; As in simdjson.
            (local.set $backslashes (i32.and (local.get $backslashes) (i32.xor (local.get $is_escaped) (i32.const -1))))
            (local.set $escaped (i32.or (i32.shl (local.get $backslashes) (i32.const 1)) (local.get $is_escaped)))
            (local.set $odd (i64.add
              (i64.extend_i32_u (local.get $backslashes))
              (i64.extend_i32_u (i32.and
                (i32.and (local.get $backslashes) (i32.const 0xaaaaaaaa))
                (i32.xor (local.get $escaped) (i32.const -1))))))
            (local.set $is_escaped (i32.wrap_i64 (i64.shr_u (local.get $odd) (i64.const 32))))
            (local.set $escaped (i32.and
              (local.get $escaped)
              (i32.xor (i32.shl (i32.wrap_i64 (local.get $odd)) (i32.const 1)) (i32.const 0x55555555))))
            (local.set $ends (i32.and (local.get $quotes) (i32.xor (local.get $escaped) (i32.const -1))))
            ;; Nearly all escapes are breaks, quotes and backslashes.
            (local.set $seldom (i32.and
              (i32.and
                (local.get $escaped)
                (i32.and (i32.sub (local.get $ends) (i32.const 1)) (i32.xor (local.get $ends) (i32.const -1))))
              (i32.xor (i32.const -1) (i32.or
                (i32.or (local.get $quotes) (local.get $backslashes))
                (i32.or
                  (i8x16.bitmask (i8x16.eq (local.get $first) (i8x16.splat (i32.const 0x6e))))
                  (i32.shl (i8x16.bitmask (i8x16.eq (local.get $second) (i8x16.splat (i32.const 0x6e)))) (i32.const 16)))))))
            (if (local.get $seldom) (then (call $note_escapes (local.get $at) (local.get $seldom))))))
        ;; Bytes that JSON does not allow in a text.
        (if (v128.any_true (v128.or
              (i8x16.lt_u (local.get $first) (i8x16.splat (i32.const 0x20)))
              (i8x16.lt_u (local.get $second) (i8x16.splat (i32.const 0x20)))))
          (then (call $note_controls
            (local.get $at)
            (i32.add (local.get $at) (i32.ctz (local.get $ends))))))
        (if (local.get $ends)
          (then
            (if (i8x16.bitmask (local.get $highs)) (then (call $note_high)))
            (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $ends))))
            (call $end_text (local.get $at) (local.get $shift))
            (return (i32.add (local.get $at) (i32.const 1)))))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br $next)))
    ;; Beyond the text there may be more such bytes: they belong to the body as well.
    (if (i8x16.bitmask (local.get $highs)) (then (call $note_high)))
    (if (local.get $is_escaped) (then (local.set $at (call $read_escape (local.get $at) (local.get $end)))))
    ;; end
    (loop $next
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return (local.get $at))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (if (i32.eq (local.get $byte) (i32.const 0x22))
        (then
          (call $end_text (i32.sub (local.get $at) (i32.const 1)) (local.get $shift))
          (return (local.get $at))))
      (if (i32.eq (local.get $byte) (i32.const 0x5c))
        (then
          (local.set $at (call $read_escape (local.get $at) (local.get $end)))
          (br $next)))
      (if (i32.lt_u (local.get $byte) (i32.const 0x20)) (then (call $note_broken)))
      (if (i32.ge_u (local.get $byte) (i32.const 0x80)) (then (call $note_high)))
      (br $next))
    (unreachable))

  ;; From behind a backslash. Where the piece ends there, the next one begins with the byte that is meant.
  (func $read_escape (param $at i32) (param $end i32) (result i32)
    (if (i32.ge_u (local.get $at) (local.get $end))
      (then
        (global.set $mode (global.get $ESCAPE))
        (return (local.get $at))))
    (call $note_escape (i32.load8_u (local.get $at)))
    (i32.add (local.get $at) (i32.const 1)))

  ;; simd
  ;; The bytes that these bits stand for: each one comes after a backslash.
  (func $note_escapes (param $at i32) (param $bits i32)
    (loop $more
      (call $note_escape (i32.load8_u (i32.add (local.get $at) (i32.ctz (local.get $bits)))))
      (local.set $bits (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))
      (br_if $more (local.get $bits))))

  ;; One of 32 bytes is not allowed in JSON; it may stand behind the text's end. A broken text is not looked at again.
  (func $note_controls (param $at i32) (param $end i32)
    (loop $next
      (if (i32.and (global.get $text_flags) (i32.const 2)) (then (return)))
      (if (i32.ge_u (local.get $at) (local.get $end)) (then (return)))
      (if (i32.lt_u (i32.load8_u (local.get $at)) (i32.const 0x20)) (then (call $note_broken)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next)))
  ;; end

  ;; The byte after a backslash.
  (func $note_escape (param $byte i32)
    (if (i32.eq (local.get $byte) (i32.const 0x6e)) (then (return))) ;; n
    (if (i32.eq (local.get $byte) (i32.const 0x22)) (then (return))) ;; "
    (if (i32.eq (local.get $byte) (i32.const 0x5c)) (then (return))) ;; \
    (if (i32.eq (local.get $byte) (i32.const 0x74)) (then (return))) ;; t
    (if (i32.eq (local.get $byte) (i32.const 0x75)) ;; u
      (then
        (global.set $text_flags (i32.or (global.get $text_flags) (i32.const 1)))
        (global.set $flags (i32.or (global.get $flags) (i32.const 2)))
        (return)))
    (if (i32.eq (local.get $byte) (i32.const 0x72)) (then (return))) ;; r
    (if (i32.eq (local.get $byte) (i32.const 0x2f)) ;; /
      (then
        (global.set $text_flags (i32.or (global.get $text_flags) (i32.const 4)))
        (return)))
    (if (i32.eq (local.get $byte) (i32.const 0x62)) (then (return))) ;; b
    (if (i32.eq (local.get $byte) (i32.const 0x66)) (then (return))) ;; f
    (if (i32.ge_u (local.get $byte) (i32.const 0x80)) (then (call $note_high)))
    (call $note_broken))

  (func $note_broken
    (global.set $text_flags (i32.or (global.get $text_flags) (i32.const 2))))

  (func $note_high
    (global.set $flags (i32.or (global.get $flags) (i32.const 1))))

  (func $note_hour
    (global.set $flags (i32.or (global.get $flags) (i32.const 4))))

  ;; At its closing quote.
  (func $end_text (param $at i32) (param $shift i32)
    (local $place i32)
    (local.set $place (i32.add (local.get $at) (local.get $shift)))
    (if (i32.eq (i32.load (i32.sub (local.get $at) (i32.const 3))) (global.get $HOUR)) (then (call $note_hour)))
    (if (i32.and (i32.eq (global.get $depth) (i32.const 1)) (i32.lt_s (global.get $key_start) (i32.const 0)))
      (then
        (global.set $key_start (global.get $text_start))
        (global.set $key_end (i32.add (local.get $place) (i32.const 1)))
        ;; Not seen where a piece ends within the name: then the list is read as any other.
        (global.set $is_tools (i32.and
          (i32.eq (i32.sub (local.get $place) (global.get $text_start)) (i32.const 6))
          (i32.eq (i32.load (i32.sub (local.get $at) (i32.const 5))) (global.get $TOOL)))))
      (else
        ;; Of the object itself, of objects in a list that it has, and so on: at depth 1, 3, 5 and 7.
        (if (i32.and
              (i32.gt_u (i32.sub (local.get $place) (global.get $text_start)) (global.get $max_short))
              (i32.and (i32.and (global.get $depth) (i32.const 1)) (i32.lt_s (global.get $depth) (i32.const 8))))
          (then (call $find
            (i32.const 1)
            (global.get $text_start)
            (i32.add (local.get $place) (i32.const 1))
            (global.get $name_start)
            (global.get $text_flags))))))
    (global.set $text_bytes
      (i32.add (global.get $text_bytes) (i32.sub (local.get $place) (global.get $text_start))))
    (global.set $solid (local.get $place))
    (global.set $mode (global.get $BARE)))

  (func $end_field
    (if (i32.ge_s (global.get $value_start) (i32.const 0))
      (then
        (call $find
          (i32.const 0)
          (global.get $key_start)
          (global.get $key_end)
          (global.get $value_start)
          (i32.add (global.get $solid) (i32.const 1)))
        (global.set $key_start (i32.const -1))
        (global.set $value_start (i32.const -1)))))

  ;; A field: its key, the key's end, its value, the value's end. A text: its start, its end, its name, its flags.
  (func $find (param $kind i32) (param $first i32) (param $second i32) (param $third i32) (param $fourth i32)
    (local $at i32)
    (local.set $at (global.get $next_find))
    (i32.store offset=0 (local.get $at) (local.get $kind))
    (i32.store offset=4 (local.get $at) (local.get $first))
    (i32.store offset=8 (local.get $at) (local.get $second))
    (i32.store offset=12 (local.get $at) (local.get $third))
    (i32.store offset=16 (local.get $at) (local.get $fourth))
    (global.set $next_find (i32.add (local.get $at) (i32.const 20)))))
