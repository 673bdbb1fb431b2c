// What exec(), eval() and compile() make of a text that another interpreter has compiled
// before: the same as CPython's compiler makes of it, with all that goes with compiling.
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/obj.h>

#include <string>
#include <vector>

#include "process/code_cache.h"

namespace multipy::runtime {
namespace {

class CodeCacheTest : public ::testing::Test {
 protected:
  InterpreterManager manager{3};

  uint64_t found() const { return process::CodeCache::instance().counts().found; }

  std::string run(std::size_t interpreter, const char* source) {
    const std::string name = "texts_" + std::to_string(modules_++);
    manager.registerModuleSource(name, source);
    auto session = manager.allInstances()[interpreter].acquireSession();
    return session.global(name.c_str(), "run")(std::vector<Obj>()).toIValue().toStringRef();
  }

  /// The first interpreter to run it compiles, the others find what it made.
  void expectTheSameOfFoundOnes(const char* source) {
    const std::string compiled = run(0, source);
    EXPECT_NE(compiled, "");
    for (const std::size_t interpreter : {1, 2}) {
      const uint64_t before = found();
      EXPECT_EQ(run(interpreter, source), compiled);
      EXPECT_GT(found(), before);
    }
  }

 private:
  int modules_ = 0;
};

TEST_F(CodeCacheTest, CodeIsTheSameToTheLastColumn) {
  expectTheSameOfFoundOnes(R"(
import types
TEXTS = [
    'def f(a, /, b=1, *args, c, d=2, **named):\n  """doc"""\n  return lambda: (a, b, args, c, d, named)\n',
    'async def f(x):\n  async with x as y:\n    return [z async for z in y]\n',
    'class A(metaclass=type):\n  x: int = 1\n  def __init__(self): super().__init__(); self.__private = 1\n',
    'try:\n  1 / 0\nexcept ZeroDivisionError as e:\n  pass\nfinally:\n  x = 1\n',
    'match [1, 2]:\n  case [a, *_]: b = a\n  case {"k": v}: b = v\n',
    'x = (1, 2.5, -0.0, 1e400, 3j, None, ..., b"bytes", "text", (1, (2, "three")), 10 ** 30, True)\n',
    'x = 5 in {1, 2, 5}\ny = 3 in [1, 2]\n',
    's = "\\ud800 and \\U0001f600 and ä"\nüber = s\n',
    'a = "not an identifier"; b = "not an identifier"; c = "identifier"; d = (a, "identifier")\n',
    '\n\n\ndef f():\n  global g\n  g = f"{1 + 1!r:>{10}}"\n  for i in range(3): yield from (i, i)\n',
]
def parts(value):
    if isinstance(value, types.CodeType):
        names = sorted(n for n in dir(value) if n.startswith('co_') and n not in ('co_lnotab',))
        return {n: parts(getattr(value, n)) if not callable(getattr(value, n)) else
                list(getattr(value, n)()) for n in names}
    if isinstance(value, frozenset):
        return 'frozenset', sorted(map(repr, value))
    return [parts(item) for item in value] if isinstance(value, tuple) else (type(value).__name__, ascii(value))
def run():
    shown = []
    for text in TEXTS:
        code = compile(text, '<a text>', 'exec')
        shown.append(parts(code))
        scope = {}
        try:
            exec(text, scope)
        except Exception as error:
            shown.append(repr(error))
        shown.append(sorted(scope))
    shown.append(parts(compile('1 + x', 'an expression', 'eval')))
    shown.append(eval('[n ** 2 for n in range(3)]', {}))
    # What is one object in compiled code is one here.
    scope = {}
    exec(TEXTS[8], scope)
    import sys
    shown.append((scope['a'] is scope['b'], scope['c'] is scope['d'][1], scope['c'] is sys.intern('identifier')))
    return repr(shown)
)");
}

TEST_F(CodeCacheTest, WhateverTheCompilerGoesByIsToldApart) {
  expectTheSameOfFoundOnes(R"(
import types
def described(code):
    return code.co_filename, code.co_flags, [getattr(c, 'co_consts', c) for c in code.co_consts], code.co_code.hex()
def run():
    text = 'def f(x: int = 1):\n  "doc"\n  assert x, "told apart"\n  if __debug__: return 1\n'
    codes = [compile(text, 'one', 'exec'), compile(text, 'two', 'exec'), compile(text, 'zwei ü', 'exec')]
    codes += [compile(text, 'one', 'exec', optimize=level) for level in (0, 1, 2)]
    codes.append(compile(text, 'one', 'exec', flags=__import__('__future__').annotations.compiler_flag))
    codes.append(compile('from __future__ import annotations\n' + text, 'one', 'exec'))
    codes += [compile('told + apart', 'one', mode) for mode in ('exec', 'eval', 'single')]
    shown = [described(code) for code in codes]
    # The flags of the code that calls exec() are inherited.
    plain, future = types.ModuleType('plain'), types.ModuleType('future')
    body = 'def inside(text):\n  scope = {}\n  exec(text, scope)\n  return repr(scope["f"].__annotations__)\n'
    exec(compile(body, 'plain', 'exec', dont_inherit=True), plain.__dict__)
    exec(compile('from __future__ import annotations\n' + body, 'future', 'exec', dont_inherit=True), future.__dict__)
    for _ in range(2):
        assert plain.inside(text) == "{'x': <class 'int'>}", plain.inside(text)
        assert future.inside(text) == "{'x': 'int'}", future.inside(text)
    assert len(set(map(repr, shown))) == len(shown) - 1, shown  # optimize=0 is what it is anyway
    return repr(shown)
)");
}

TEST_F(CodeCacheTest, AuditHooksHearTheSame) {
  expectTheSameOfFoundOnes(R"(
import sys
heard, listening = [], False
def hook(event, arguments):
    if listening and event in ('compile', 'exec'):
        heard.append((event, [getattr(a, 'co_name', a) for a in arguments]))
        if arguments[0] == b'forbidden = 1': raise RuntimeError('forbidden')
sys.addaudithook(hook)
def run():
    global listening
    listening = True
    results = []
    for _ in range(2):
        exec('audited = 1', {})
        results.append(eval('40 + 2', {}))
        compile('audited + 2', 'a file', 'eval')
    listening = False
    exec('forbidden = 1', {})
    listening = True
    try:
        exec('forbidden = 1', {})
    except RuntimeError as error:
        results.append(repr(error))
    listening = False
    return repr((heard, results))
)");
}

TEST_F(CodeCacheTest, EachInterpreterIsWarnedAndToldOfErrors) {
  const char* source = R"(
import warnings
TEXTS = ['x = 1\nx is 1\n', 's = "\\d"\n', 'assert (1, "always")\n', '1()\n', '[1, 2][1, 2]\n', 'y = 0x1for x in ()\n',
         'def f(:\n', 'return\n', 'x = 1 +\n', '"\\N{no such name}"', '(' * 300, 'a\n  b\n', '\xff = 1', 'nonlocal x']
def run():
    shown = []
    for _ in range(2):
        for text in TEXTS:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter('always')
                try:
                    compile(text, 'warned.py', 'exec')
                except SyntaxError as error:
                    shown.append((type(error).__name__, str(error), error.args))
            shown.append([(w.category.__name__, str(w.message), w.filename, w.lineno) for w in caught])
            with warnings.catch_warnings():
                warnings.simplefilter('error')
                try:
                    exec(text, {})
                except Exception as error:
                    shown.append((type(error).__name__, str(error)))
    assert sum(isinstance(line, list) and line != [] for line in shown) >= 10, shown
    return repr(shown)
)";
  const std::string first = run(0, source);
  EXPECT_EQ(run(1, source), first);
  EXPECT_EQ(run(2, source), first);
}

TEST_F(CodeCacheTest, LongNumbersDependOnTheInterpreter) {
  const char* allowed = R"(
import sys
def run():
    sys.set_int_max_str_digits(0)
    scope = {}
    for _ in range(2): exec('number = ' + '7' * 5000 + '\n', scope)
    return str(scope['number'])
)";
  const char* refused = R"(
def run():
    try:
        exec('number = ' + '7' * 5000 + '\n', {})
    except SyntaxError as error:
        return error.msg
)";
  EXPECT_EQ(run(0, allowed), std::string(5000, '7'));
  EXPECT_NE(run(1, refused).find("Exceeds the limit"), std::string::npos) << run(1, refused);
}

TEST_F(CodeCacheTest, TreesSymbolTablesAndOddNamesAreMadeAsEver) {
  const char* source = R"(
import ast, symtable
def run():
    text = 'def f(a): return a + odd\n'
    shown = []
    for _ in range(2):
        exec(text, {})
        compile(text, '<string>', 'exec')
        shown.append(ast.dump(ast.parse(text)))
        shown.append([t.get_name() for t in symtable.symtable(text, '<string>', 'exec').get_children()])
        shown.append(compile(ast.parse(text), '<string>', 'exec').co_consts[0].co_code.hex())
        shown.append(ascii(compile(text, 'odd \udcff name', 'exec').co_filename))
        shown.append(compile(text.encode(), '<string>', 'exec').co_names)
        shown.append(compile(('# coding: latin-1\ns = "\xe4"\n').encode('latin-1'), '<string>', 'exec').co_consts)
        shown.append(compile(('# coding: utf-8\ns = "\xe4"\n').encode(), '<string>', 'exec').co_consts)
    return repr(shown)
)";
  const std::string first = run(0, source);
  EXPECT_EQ(run(1, source), first);
}

TEST_F(CodeCacheTest, DataclassesAreCompiledOnce) {
  const char* source = R"(
import dataclasses, collections
@dataclasses.dataclass(frozen=True, order=True)
class Point:
    x: int
    y: float = 0.5
def run():
    Pair = collections.namedtuple('Pair', 'left right', defaults=[3])
    return repr((Point(1), Point(1) < Point(2), hash(Point(1)) == hash(Point(1)), Pair(1), Point.__init__.__annotations__))
)";
  const std::string first = run(0, source);
  const uint64_t before = found();
  EXPECT_EQ(run(1, source), first);
  EXPECT_GE(found(), before + 8);  // __init__, __repr__, __eq__, __lt__ ...
}

}  // namespace
}  // namespace multipy::runtime
