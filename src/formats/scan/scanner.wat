;; Finds the top-level fields and the long texts of a JSON object in its bytes, without checking that it is one. A body is
;; given in pieces, one after the other; the state between two of them is in the globals. `npm run docs` compiles this into
;; scanner-code.ts, and once more without the lines marked as simd, which old processors do not know.
(module
  ;; At 0 four numbers for the reader, at 16 the piece, then the finds: each has five numbers.
  (memory (export "memory") 7)
  (global $PIECE i32 (i32.const 16))
  (global $FINDS i32 (i32.const 65600))

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
  ;; Of everything: 1 for bytes that are not ASCII, 2 for escapes such as \u00e9.
  (global $flags (mut i32) (i32.const 0))
  ;; The field that is open at the top level; -1 for what has not come.
  (global $key_start (mut i32) (i32.const 0))
  (global $key_end (mut i32) (i32.const 0))
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

  ;; 0: the piece ended. 1: the object ended. 2, 3, 4: too deep, too many values, too many bytes outside of texts.
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
    (local.get $state))

  ;; $shift: what makes an address a place in the body.
  (func $scan_piece (param $at i32) (param $end i32) (param $shift i32) (result i32)
    (local $byte i32) (local $place i32)
    ;; Texts are read 16 bytes at a time, so beyond the end; spaces mean nothing there.
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
      (br_if $next (call $is_space (local.get $byte)))
      (if (global.get $awaits_value)
        (then
          (global.set $value_start (local.get $place))
          (global.set $awaits_value (i32.const 0))))
      (if (i32.eq (global.get $mode) (global.get $BEFORE))
        (then
          (global.set $mode (global.get $BARE))
          (global.set $is_object (i32.eq (local.get $byte) (i32.const 0x7b)))))
      (if (i32.eq (local.get $byte) (i32.const 0x22)) ;; "
        (then
          (global.set $mode (global.get $TEXT))
          (global.set $text_start (local.get $place))
          (global.set $text_flags (i32.const 0))
          (local.set $at (call $read_text (local.get $at) (local.get $end) (local.get $shift)))
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
        (if (i32.ge_u (local.get $byte) (i32.const 0x80))
          (then (global.set $flags (i32.or (global.get $flags) (i32.const 1))))))
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
    (local $byte i32) (local $high i32) (local $lowest i32)
    (local $bytes v128) (local $special i32) ;; simd
    ;; A text that is broken already is only looked through for its end.
    (local.set $lowest (select (i32.const 0) (i32.const 0x20) (i32.and (global.get $text_flags) (i32.const 2))))
    (block $left
      (loop $next
        (br_if $left (i32.ge_u (local.get $at) (local.get $end)))
        ;; simd
        (local.set $bytes (v128.load (local.get $at)))
        (local.set $high (i32.or (local.get $high) (i8x16.bitmask (local.get $bytes))))
        ;; A quote, a backslash, or a byte that JSON does not allow in a text.
        (local.set $special (i8x16.bitmask
          (v128.or
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
            (i8x16.lt_u (local.get $bytes) (i8x16.splat (local.get $lowest))))))
        (if (i32.eqz (local.get $special))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $next)))
        (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $special))))
        ;; end
        (local.set $byte (i32.load8_u (local.get $at)))
        (local.set $high (i32.or (local.get $high) (i32.and (local.get $byte) (i32.const 0x80))))
        (if (i32.eq (local.get $byte) (i32.const 0x22))
          (then (call $end_text (i32.add (local.get $at) (local.get $shift)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $left (i32.eq (local.get $byte) (i32.const 0x22)))
        (if (i32.ne (local.get $byte) (i32.const 0x5c))
          (then
            (br_if $next (i32.ge_u (local.get $byte) (local.get $lowest)))
            (call $note_broken)
            (local.set $lowest (i32.const 0))
            (br $next)))
        (if (i32.ge_u (local.get $at) (local.get $end))
          (then
            (global.set $mode (global.get $ESCAPE))
            (br $left)))
        (call $note_escape (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    ;; Beyond the text there may be more such bytes: they belong to the body as well.
    (if (local.get $high) (then (global.set $flags (i32.or (global.get $flags) (i32.const 1)))))
    (local.get $at))

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
    (call $note_broken))

  (func $note_broken
    (global.set $text_flags (i32.or (global.get $text_flags) (i32.const 2))))

  ;; At its closing quote.
  (func $end_text (param $place i32)
    (if (i32.and (i32.eq (global.get $depth) (i32.const 1)) (i32.lt_s (global.get $key_start) (i32.const 0)))
      (then
        (global.set $key_start (global.get $text_start))
        (global.set $key_end (i32.add (local.get $place) (i32.const 1))))
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
