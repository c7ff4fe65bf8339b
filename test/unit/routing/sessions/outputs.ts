// Outputs of test runners, compilers, linters and package managers as they come, by the number of failures. Times and
// places differ from run to run, as real ones do.

type Output = (failing: number, run: number) => string;

const times = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");

/** By command. */
export const OUTPUTS: Readonly<Record<string, Output>> = {
  "pytest -q": (n, run) =>
    n === 0
      ? `.....                                                                    [100%]\n5 passed, 1 warning in 0.${31 + run}s`
      : `..${"F".repeat(n)}\n=================================== FAILURES ===================================\n${times(n, (at) => `_________ test_case_${at} _________\n\n    def test_case_${at}():\n>       assert parse("${run}") == ${at}\nE       assert None == ${at}\n\ntests/test_parser.py:${10 + at}: AssertionError`)}\n=========================== short test summary info ============================\n${times(n, (at) => `FAILED tests/test_parser.py::test_case_${at} - assert None == ${at}`)}\n========================= ${n} failed, 5 passed in 0.4${run}s =========================`,
  "python -m unittest": (n, run) =>
    n === 0
      ? `......\n----------------------------------------------------------------------\nRan 6 tests in 0.00${run}s\n\nOK\n`
      : `${"F".repeat(n)}..\n======================================================================\nFAIL: test_sum (tests.test_math.MathTest)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File "/app/tests/test_math.py", line 9, in test_sum\n    self.assertEqual(add(1, 2), 3)\nAssertionError: ${run} != 3\n\n----------------------------------------------------------------------\nRan 6 tests in 0.00${run}s\n\nFAILED (failures=${n})\n`,
  "npx jest": (n, run) =>
    n === 0
      ? `PASS src/cart.test.ts\n  ✓ adds (2 ms)\n\nTest Suites: 1 passed, 1 total\nTests:       6 passed, 6 total\nSnapshots:   0 total\nTime:        1.${run}2 s\nRan all test suites.`
      : `FAIL src/cart.test.ts\n  ● cart › applies a discount\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 90\n    Received: ${100 - run}\n\n      at Object.toBe (src/cart.test.ts:1${run}:20)\n\nTest Suites: 1 failed, 2 passed, 3 total\nTests:       ${n} failed, 6 passed, ${n + 6} total\nSnapshots:   0 total\nTime:        1.${run}31 s\nRan all test suites.`,
  "npx vitest run": (n, run) =>
    n === 0
      ? ` RUN  v3.2.4 /app\n\n ✓ src/a.test.ts (6 tests) ${run}ms\n\n Test Files  1 passed (1)\n      Tests  6 passed (6)\n   Start at  10:0${run}:11\n   Duration  41${run}ms`
      : ` RUN  v3.2.4 /app\n\n ❯ src/a.test.ts (6 tests | ${n} failed) 1${run}ms\n   × parses dates 4ms\n     → expected undefined to be '2024'\n\n⎯⎯⎯⎯⎯⎯⎯ Failed Tests ${n} ⎯⎯⎯⎯⎯⎯⎯\n\n FAIL  src/a.test.ts > parses dates\nAssertionError: expected undefined to be '2024'\n ❯ src/a.test.ts:${run}:21\n\n \u001b[2m Test Files \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m (1)\n\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[31m${n} failed\u001b[39m\u001b[22m | 5 passed (${n + 5})\n   Start at  10:0${run}:41\n   Duration  4${run}1ms`,
  "npx mocha": (n, run) =>
    n === 0
      ? `\n\n  parser\n    ✔ reads\n\n\n  7 passing (1${run}ms)\n`
      : `\n\n  parser\n    ✔ reads\n    1) writes\n\n\n  5 passing (1${run}ms)\n  ${n} failing\n\n  1) parser\n       writes:\n     AssertionError [ERR_ASSERTION]: ${run} == 2\n      at Context.<anonymous> (test/parser.js:9:12)\n`,
  "go test ./...": (n, run) =>
    n === 0
      ? `ok  \texample.com/app/store\t0.0${run}1s\nok  \texample.com/app/web\t0.01s`
      : `${times(n, (at) => `--- FAIL: TestStore${at} (0.0${run}s)\n    store_test.go:2${at}: got ${run}, want 4`)}\nFAIL\nFAIL\texample.com/app/store\t0.0${run}4s\nok  \texample.com/app/web\t(cached)\nFAIL`,
  "cargo test": (n, run) =>
    n === 0
      ? `    Finished test profile in 0.${run}s\n     Running unittests src/lib.rs\n\nrunning 4 tests\ntest tests::a ... ok\n\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n`
      : `   Compiling app v0.1.0 (/app)\n    Finished test profile [unoptimized + debuginfo] target(s) in 0.${run}4s\n     Running unittests src/lib.rs (target/debug/deps/app-2f6c)\n\nrunning 4 tests\ntest tests::a ... FAILED\n\nfailures:\n\n---- tests::a stdout ----\nthread 'tests::a' panicked at src/lib.rs:2${run}:9:\nassertion \`left == right\` failed\n  left: ${run}\n right: 4\n\n\nfailures:\n    tests::a\n\ntest result: FAILED. 3 passed; ${n} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0${run}s\n\nerror: test failed, to rerun pass \`--lib\`\n`,
  "cargo build": (n, run) =>
    n === 0
      ? `   Compiling app v0.1.0 (/app)\n    Finished \`dev\` profile [unoptimized + debuginfo] target(s) in 1.${run}s\n`
      : `   Compiling app v0.1.0 (/app)\nerror[E0382]: borrow of moved value: \`name\`\n  --> src/main.rs:1${run}:20\n   |\n12 |     let other = name;\n   |                 ---- value moved here\n\nFor more information about this error, try \`rustc --explain E0382\`.\nerror: could not compile \`app\` (bin "app") due to ${n === 1 ? "1 previous error" : `${n} previous errors`}\n`,
  "mvn -q test": (n, run) =>
    n === 0
      ? `[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 0\n[INFO] ------------------------------------------------------------------------\n[INFO] BUILD SUCCESS\n[INFO] Total time:  3.${run} s`
      : `[ERROR] Tests run: 9, Failures: ${n}, Errors: 0, Skipped: 0, Time elapsed: 0.0${run} s <<< FAILURE! -- in com.acme.CartTest\n[ERROR] com.acme.CartTest.discount -- Time elapsed: 0.005 s <<< FAILURE!\norg.opentest4j.AssertionFailedError: expected: <90> but was: <${run}>\n[INFO] Results:\n[ERROR] Failures: \n[ERROR]   CartTest.discount:2${run} expected: <90> but was: <100>\n[ERROR] Tests run: 9, Failures: ${n}, Errors: 0, Skipped: 0\n[INFO] ------------------------------------------------------------------------\n[INFO] BUILD FAILURE\n[INFO] ------------------------------------------------------------------------\n[INFO] Total time:  4.${run}1 s\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project cart: There are test failures.\n[ERROR] -> [Help 1]\n`,
  "./gradlew test": (n, run) =>
    n === 0
      ? `> Task :compileJava UP-TO-DATE\n> Task :test\n\nBUILD SUCCESSFUL in ${run}s\n3 actionable tasks: 1 executed, 2 up-to-date`
      : `> Task :test FAILED\n\nCartTest > discount() FAILED\n    org.opentest4j.AssertionFailedError at CartTest.java:2${run}\n\n9 tests completed, ${n} failed\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':test'.\n> There were failing tests. See the report at: file:///app/build/reports/tests/test/index.html\n\nBUILD FAILED in ${run}s\n3 actionable tasks: 2 executed`,
  "dotnet test": (n, run) =>
    n === 0
      ? `Passed!  - Failed:     0, Passed:     9, Skipped:     0, Total:     9, Duration: 3${run} ms - App.Tests.dll (net8.0)`
      : `  Failed App.Tests.CartTests.Discount [${run} ms]\n  Error Message:\n   Assert.Equal() Failure: Values differ\nExpected: 90\nActual:   100\n  Stack Trace:\n     at App.Tests.CartTests.Discount() in /app/CartTests.cs:line 1${run}\n\nFailed!  - Failed:     ${n}, Passed:     7, Skipped:     0, Total:     9, Duration: 3${run} ms - App.Tests.dll (net8.0)`,
  "bundle exec rspec": (n, run) =>
    n === 0
      ? `.........\n\nFinished in 0.0${run} seconds (files took 0.2 seconds to load)\n9 examples, 0 failures\n`
      : `..F......\n\nFailures:\n\n  1) Cart applies a discount\n     Failure/Error: expect(cart.total).to eq(90)\n\n       expected: 90\n            got: ${run}\n\nFinished in 0.0${run} seconds (files took 0.2 seconds to load)\n9 examples, ${n} failure${n === 1 ? "" : "s"}\n\nFailed examples:\n\nrspec ./spec/cart_spec.rb:12 # Cart applies a discount\n`,
  "vendor/bin/phpunit": (n, run) =>
    n === 0
      ? `PHPUnit 11.2.0 by Sebastian Bergmann and contributors.\n\n.........  9 / 9 (100%)\n\nTime: 00:00.0${run}, Memory: 8.00 MB\n\nOK (9 tests, 14 assertions)\n`
      : `PHPUnit 11.2.0 by Sebastian Bergmann and contributors.\n\n..F......  9 / 9 (100%)\n\nTime: 00:00.0${run}, Memory: 8.00 MB\n\nThere was 1 failure:\n\n1) CartTest::testDiscount\nFailed asserting that ${run} matches expected 90.\n\n/app/tests/CartTest.php:21\n\nFAILURES!\nTests: 9, Assertions: 13, Failures: ${n}.\n`,
  "npx tsc --noEmit": (n, run) =>
    n === 0
      ? ""
      : times(
          n,
          (at) => `src/cart.ts(1${run},${at + 3}): error TS2322: Type 'string' is not assignable to type 'number'.`,
        ),
  "gcc -o app main.c": (n, run) =>
    n === 0
      ? ""
      : `main.c: In function 'main':\n${times(n, (at) => `main.c:1${run}:${at + 5}: error: 'x' undeclared (first use in this function)\n   1${run} |     x = 1;\n      |     ^`)}\n`,
  "clang++ app.cpp": (n, run) =>
    n === 0
      ? ""
      : `app.cpp:1${run}:3: error: use of undeclared identifier 'foo'\n  foo();\n  ^\n${n} error${n === 1 ? "" : "s"} generated.\n`,
  "npx eslint .": (n, run) =>
    n === 0
      ? ""
      : `\n/app/src/cart.ts\n  1${run}:7  error  'total' is assigned a value but never used  no-unused-vars\n\n✖ ${n + 1} problems (${n} error${n === 1 ? "" : "s"}, 1 warning)\n`,
  "ruff check .": (n, run) =>
    n === 0
      ? "All checks passed!\n"
      : `app/cart.py:1${run}:8: F401 [*] \`os\` imported but unused\nFound ${n} error${n === 1 ? "" : "s"}.\n[*] 1 fixable with the \`--fix\` option.\n`,
  "make all": (n, run) =>
    n === 0
      ? `cc -c main.c\ncc -o app main.o\n`
      : `cc -c main.c\nmain.c:1${run}:5: error: expected ';' before 'return'\nmake: *** [Makefile:4: main.o] Error 1\n`,
  "npm install": (n, run) =>
    n === 0
      ? `\nadded 112 packages, and audited 113 packages in ${run}s\n\nfound 0 vulnerabilities\n`
      : `npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\nnpm error While resolving: app@1.0.${run}\nnpm error Found: react@19.0.0\n`,
  "pip install -r requirements.txt": (n, run) =>
    n === 0
      ? `Collecting flask==3.0.0\nInstalling collected packages: flask\nSuccessfully installed flask-3.0.${run}\n`
      : `Collecting flask==3.9.${run}\nERROR: Could not find a version that satisfies the requirement flask==3.9.${run} (from versions: 3.0.0, 3.0.1)\nERROR: No matching distribution found for flask==3.9.${run}\n`,
};

/** Further programs, and words that most runners use. */
export const MORE_OUTPUTS: Readonly<Record<string, Output>> = {
  "npx ava": (n, run) =>
    n === 0
      ? `  ✔ adds (${run}ms)\n  ─\n\n  3 tests passed\n`
      : `  ✘ [fail]: adds\n  ─\n\n  test.js:${run}\n\n  ${n} tests failed\n`,
  "karma start --single-run": (n, run) =>
    n === 0 ? `TOTAL: 12 SUCCESS\n` : `Chrome Headless 120.0: Executed 12 of 12 (${n} FAILED) (0.${run}1 secs)\n`,
  "sbt test": (n, run) =>
    n === 0
      ? `[info] All tests passed.\n[success] Total time: ${run} s`
      : `[info] - adds *** FAILED ***\n[info]   CartSpec.scala:1${run}\n[error] Failed: Total 8, Failed ${n}, Errors 0, Passed 6\n`,
  "vite build": (n, run) =>
    n === 0
      ? `✓ built in 1.0${run}s`
      : `✗ Build failed in 1.0${run}s\nerror during build:\nsrc/a.ts (1${run}:2): "x" is not exported\n`,
  "pylint app": (n, run) =>
    n === 0
      ? `Your code has been rated at 10.00/10`
      : `${times(n, (at) => `app.py:1${run}:${at}: E1101: Module 'os' has no 'foo' member (no-member)`)}\n\nYour code has been rated at 5.0${run}/10\n`,
  "golangci-lint run": (n, run) =>
    n === 0
      ? `0 issues.`
      : `main.go:1${run}:2: Error return value is not checked (errcheck)\n${n} issues:\n* errcheck: ${n}\n`,
  "bazel test //...": (n, run) =>
    n === 0
      ? `Executed 1 out of 1 test: 1 test passes.`
      : `//app:a_test   FAILED in 0.${run}s\nExecuted 3 out of 3 tests: 1 test passes and ${n} fail locally.\n`,
  "mix compile": (n, run) =>
    n === 0
      ? `Compiled lib/a.ex`
      : `== Compilation error in file lib/a.ex ==\n** (CompileError) lib/a.ex:${run}: undefined function foo/0\n`,
};

/** Outputs on which no pattern was tuned. */
export const UNSEEN_OUTPUTS: Readonly<Record<string, Output>> = {
  "pytest tests/ -x --tb=line": (n, run) =>
    n === 0
      ? `============================= test session starts ==============================\ncollected 12 items\n\ntests/test_api.py ............                                           [100%]\n\n============================== 12 passed in 2.${run}7s ==============================\n`
      : `============================= test session starts ==============================\ncollected 12 items\n\ntests/test_api.py ....E\n\n==================================== ERRORS ====================================\n/app/tests/conftest.py:${run}: fixture 'client' not found\n=========================== short test summary info ============================\nERROR tests/test_api.py::test_login\n!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!!\n==================== 4 passed, 2 warnings, ${n} error${n === 1 ? "" : "s"} in 0.8${run}s ====================\n`,
  "yarn test --ci": (n, run) =>
    n === 0
      ? `yarn run v1.22.19\n$ jest --ci\nPASS lib/a.spec.js (5.${run} s)\n\nTest Suites: 3 passed, 3 total\nTests:       1 skipped, 40 passed, 41 total\nSnapshots:   2 passed, 2 total\nTime:        7.${run} s\nDone in 8.2s.\n`
      : `yarn run v1.22.19\n$ jest --ci\nFAIL lib/a.spec.js (5.${run} s)\n  ● Test suite failed to run\n\n    Cannot find module './b' from 'lib/a.js'\n\nTest Suites: ${n} failed, 2 passed, 3 total\nTests:       40 passed, 40 total\nSnapshots:   2 passed, 2 total\nTime:        7.${run} s\nerror Command failed with exit code 1.\n`,
  "pnpm exec vitest --run --reporter=dot": (n, run) =>
    n === 0
      ? `\n RUN  v2.1.8 /repo\n\n····\n\n Test Files  2 passed (2)\n      Tests  4 passed (4)\n   Duration  1.0${run}s\n`
      : `\n RUN  v2.1.8 /repo\n\n··x·\n\n⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯\n\n FAIL  src/b.spec.ts [ src/b.spec.ts ]\nError: Failed to resolve import "./c" from "src/b.ts".\n\n Test Files  ${n} failed | 1 passed (2)\n      Tests  4 passed (4)\n   Start at  09:1${run}:20\n   Duration  1.0${run}s\n`,
  "cargo nextest run || cargo test --workspace": (n, run) =>
    n === 0
      ? `running 12 tests\n............\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.0${run}s\n`
      : `error[E0308]: mismatched types\n --> core/src/lib.rs:${run}7:5\n  |\n  = note: expected \`u32\`, found \`i64\`\n\nerror: could not compile \`core\` (lib test) due to ${n} previous errors; 2 warnings emitted\nwarning: build failed, waiting for other jobs to finish...\n`,
  "go test -run TestServe ./internal/http": (n, run) =>
    n === 0
      ? `ok  \tgithub.com/acme/srv/internal/http\t1.${run}s`
      : `# github.com/acme/srv/internal/http [github.com/acme/srv/internal/http.test]\ninternal/http/serve.go:4${run}:12: undefined: newRouter\nFAIL\tgithub.com/acme/srv/internal/http [build failed]\nFAIL`,
  "mvn verify": (n, run) =>
    n === 0
      ? `[INFO] BUILD SUCCESS\n[INFO] Total time:  01:0${run} min\n[INFO] Finished at: 2025-11-0${run}T10:00:00Z`
      : `[INFO] -------------------------------------------------------------\n[ERROR] COMPILATION ERROR : \n[INFO] -------------------------------------------------------------\n${times(n, (at) => `[ERROR] /app/src/main/java/com/acme/A.java:[1${run},${at}] cannot find symbol`)}\n[INFO] ${n} errors\n[INFO] BUILD FAILURE\n[INFO] Total time:  2.${run} s\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project a: Compilation failure\n`,
  "gradle build": (n, run) =>
    n === 0
      ? `BUILD SUCCESSFUL in 1m ${run}s`
      : `> Task :app:compileKotlin FAILED\ne: file:///app/src/Main.kt:1${run}:9 Unresolved reference: foo\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:compileKotlin'.\n> Compilation error. See log for more details\n\n* Try:\n> Run with --stacktrace option to get the stack trace.\n\nBUILD FAILED in 1${run}s\n`,
  "dotnet build": (n, run) =>
    n === 0
      ? `Build succeeded.\n    0 Warning(s)\n    0 Error(s)\n\nTime Elapsed 00:00:0${run}.11`
      : `/app/Cart.cs(1${run},13): error CS0103: The name 'total' does not exist in the current context [/app/App.csproj]\n\nBuild FAILED.\n\n    0 Warning(s)\n    ${n} Error(s)\n\nTime Elapsed 00:00:0${run}.42`,
  "python -m pytest --no-header -q 2>&1 | tail -5": (n, run) =>
    n === 0
      ? `........................                                                 [100%]\n24 passed in 3.0${run}s`
      : `FAILED tests/unit/test_cache.py::test_ttl - KeyError: 'a'\nFAILED tests/unit/test_cache.py::test_lru - AssertionError: assert 3 == ${run}\n${n} failed, 22 passed, 1 skipped in 3.1${run}s`,
  "node --test": (n, run) =>
    n === 0
      ? `✔ adds (0.${run}ms)\nℹ tests 5\nℹ suites 0\nℹ pass 5\nℹ fail 0\nℹ duration_ms 5${run}.1`
      : `✖ adds (1.${run}ms)\nℹ tests 5\nℹ suites 0\nℹ pass 3\nℹ fail ${n}\nℹ cancelled 0\nℹ duration_ms 5${run}.1\n\n✖ failing tests:\n\ntest at test/a.test.js:3:1\n✖ adds (1.${run}ms)\n  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal\n`,
  "phpunit --testdox": (n, run) =>
    n === 0
      ? `OK (21 tests, 40 assertions)`
      : `There were ${n} errors:\n\n1) App\\CacheTest::testTtl\nError: Call to undefined method App\\Cache::ttl()\n\n/app/tests/CacheTest.php:1${run}\n\nERRORS!\nTests: 21, Assertions: 38, Errors: ${n}.\n`,
  "rspec spec/models": (n, run) =>
    n === 0
      ? `Finished in ${run}.1 seconds\n21 examples, 0 failures, 2 pending\n`
      : `An error occurred while loading ./spec/models/cart_spec.rb.\nFailure/Error: class Cart < Base\n\nNameError:\n  uninitialized constant Base\n\nFinished in 0.000${run} seconds (files took 1.1 seconds to load)\n0 examples, 0 failures, ${n} error occurred outside of examples\n`,
  "tsc -b": (n, run) =>
    n === 0
      ? ""
      : `src/a.ts:1${run}:5 - error TS2339: Property 'b' does not exist on type 'A'.\n\n1${run}   a.b = 1;\n      ~\n\n\nFound ${n} error${n === 1 ? "" : "s"} in src/a.ts:1${run}\n`,
  "cmake --build build": (n, run) =>
    n === 0
      ? `[100%] Built target app`
      : `[ 50%] Building CXX object CMakeFiles/app.dir/a.cc.o\n/app/a.cc:2${run}:10: fatal error: foo.h: No such file or directory\n   21 | #include "foo.h"\n      |          ^~~~~~~\ncompilation terminated.\ngmake[2]: *** [CMakeFiles/app.dir/build.make:76: CMakeFiles/app.dir/a.cc.o] Error 1\ngmake: *** [Makefile:91: all] Error 2\n`,
  "npm run lint": (n, run) =>
    n === 0
      ? `\n> app@1.0.0 lint\n> eslint src\n`
      : `\n> app@1.0.0 lint\n> eslint src\n\n/app/src/a.js\n  ${run}:1  error  Parsing error: Unexpected token\n\n✖ ${n} problem${n === 1 ? "" : "s"} (${n} error${n === 1 ? "" : "s"}, 0 warnings)\n\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 1\n`,
  "poetry run mypy app": (n, run) =>
    n === 0
      ? `Success: no issues found in 14 source files`
      : `app/a.py:1${run}: error: Incompatible return value type (got "int", expected "str")  [return-value]\nFound ${n} error${n === 1 ? "" : "s"} in 1 file (checked 14 source files)`,
};
